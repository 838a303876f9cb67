"""Controllers and estimators: objects that look at states of a robot and set its inputs."""

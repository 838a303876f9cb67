"""What people do first: ask a result without arguments, look at it, copy, change and print robots."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pliant as pl

SMALL = pl.BSpline(degree=3, points=6)
SOFT = pl.Material(E=1e6, nu=0.5, rho=1000.0)


def one_rod() -> pl.Robot:
    robot = pl.Robot()
    arm = robot.add_rod("arm", 0.3, pl.Circle(0.01), SOFT, pl.along("x"), formulation=SMALL)
    robot.add_body("ball", 0.01, on=arm.tip)
    return robot


@pytest.fixture(scope="module")
def results() -> dict[str, object]:
    robot = one_rod()
    motion = robot.simulate(0.02, dt=0.01)
    stepper = robot.stepper(0.01)
    return {"equilibrium": robot.statics(), "motion": motion, "state": stepper.step()}


@pytest.mark.parametrize("kind", ["equilibrium", "motion", "state"])
def test_a_rod_without_s_is_the_whole_rod_from_base_to_tip(results, kind) -> None:
    result = results[kind]
    s = np.linspace(0.0, 0.3, 51)
    for ask in ("pose", "position", "strain", "wrench", "velocity"):
        if not hasattr(result, ask):
            continue
        whole = getattr(result, ask)("arm")
        np.testing.assert_array_equal(whole, getattr(result, ask)("arm", s))
        np.testing.assert_array_equal(whole, getattr(result, ask)())
    np.testing.assert_array_equal(result.position()[..., -1, :], result.tip()[..., :3, 3])
    np.testing.assert_array_equal(result.tip(), result.tip("arm"))
    leading = (3,) if kind == "motion" else ()
    assert result.position("arm").shape == (*leading, 51, 3)
    assert result.position("ball").shape == (*leading, 3)


@pytest.mark.parametrize("kind", ["equilibrium", "motion", "state"])
def test_a_frame_is_a_place_of_which_results_know_the_pose(results, kind) -> None:
    result = results[kind]
    arm = one_rod().description.rods["arm"]
    np.testing.assert_allclose(result.pose(arm.tip), result.tip(), atol=1e-15)
    np.testing.assert_array_equal(result.position("arm.tip"), result.tip()[..., :3, 3])
    np.testing.assert_array_equal(result.pose("arm.0.12"), result.pose("arm", 0.12))
    beside = result.position(arm.at(0.1, offset=(0.02, 0.0)))
    expected = result.pose("arm", 0.1) @ np.array([0.02, 0.0, 0.0, 1.0])
    np.testing.assert_allclose(beside, expected[..., :3], atol=1e-15)
    with pytest.raises(pl.DescriptionError, match="Frame is one place"):
        result.pose(arm.tip, 0.1)
    with pytest.raises(pl.DescriptionError, match="'leg'"):
        result.pose(pl.Frame("leg", 0.1))
    with pytest.raises(pl.DescriptionError, match="from 0 to the rod's length"):
        result.pose(pl.Frame("arm", 0.4))


def test_with_several_rods_the_rod_has_to_be_named() -> None:
    robot = one_rod()
    robot.add_rod("leg", 0.1, pl.Circle(0.01), SOFT, formulation=SMALL)
    still = robot.statics()
    for ask in (still.tip, still.pose, still.position, still.strain):
        with pytest.raises(pl.DescriptionError, match="has 2 of them; choose from 'arm', 'leg'"):
            ask()


def test_modes_without_s_have_the_shape_of_the_whole_rod() -> None:
    modes = one_rod().modes(2)
    whole = modes.shape(1)
    np.testing.assert_array_equal(whole, modes.shape(1, "arm", np.linspace(0.0, 0.3, 51)))


def test_dir_lists_the_names_of_pliant_and_nothing_else() -> None:
    listed = subprocess.run(
        [sys.executable, "-c", "import pliant as pl; pl.Robot; import pliant.cli; print(*dir(pl))"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert set(listed) == set(pl.__all__)
    assert {"Robot", "Step", "fit"} <= set(listed)


def test_type_checkers_find_the_types() -> None:
    assert (Path(pl.__file__).parent / "py.typed").is_file()


def test_a_picture_that_is_written_leaves_no_figure_open(results, tmp_path) -> None:
    import matplotlib.pyplot as plt

    plt.close("all")
    for k, result in enumerate((results["equilibrium"], results["motion"], one_rod().modes(1))):
        result.plot(tmp_path / f"{k}.png")
        assert (tmp_path / f"{k}.png").stat().st_size > 1000
    with pytest.raises(pl.DescriptionError):
        results["equilibrium"].plot(tmp_path / "picture.bmp")
    assert plt.get_fignums() == []
    results["equilibrium"].plot()
    assert len(plt.get_fignums()) == 1
    plt.close("all")


def crowded() -> pl.Robot:
    """A robot with joints, natural curvature and bodies in a tree."""
    robot = pl.Robot()
    arm = robot.add_rod(
        "arm", 0.3, pl.Circle(0.01), SOFT, pl.pose((0.1, 0, 0), (0.2, 0.4, 0)), natural=(1, 2, 3)
    )
    hand = robot.add_body(
        "hand", 0.1, on=arm.at(0.2, (0.02, 0.0)), pose=pl.pose((0, 0, 0.05), (1, 0, 0)),
        joint=pl.Revolute("x", stiffness=0.1),
    )  # fmt: skip
    finger = robot.add_rod(
        "finger", 0.1, pl.Circle(0.004), SOFT, base=hand.at((0, 0.02, 0), (0, 0.3, 0)),
        natural=lambda s: (30 * s, 0.0, 0.0),
    )  # fmt: skip
    robot.add_load("push", on=finger.tip, force=(0, 0, -0.1))
    robot.add_constraint("pin", on=finger.at(0.05), kind="articulated")
    return robot


def test_undeformed_robot_is_where_its_solved_rest_is() -> None:
    from pliant.results.undeformed import Undeformed

    robot = crowded()
    compiled = robot._compiler.compiled(pl.Strain(order=3, segments=8))
    drawn = Undeformed(robot.description)
    for name, rod in robot.description.rods.items():
        s = np.linspace(0.0, rod.length, 7)
        exact = compiled.sampler.poses(compiled.rest, name, s)
        np.testing.assert_allclose(drawn.poses(None, name, s), exact, atol=1e-10)
    frame = robot.description.bodies["hand"].at((0.1, 0.2, 0.3))
    exact = compiled.frame(compiled.rest, frame)
    np.testing.assert_allclose(drawn.frame(None, frame), exact, atol=1e-10)


def test_robot_is_drawn_before_it_is_solved_and_if_it_cannot_be(tmp_path) -> None:
    robot = crowded()
    # strong forms refuse trees and joints
    robot.add_rod(
        "loose", 0.2, pl.Stiffness(1, 1, 1, 1), base=None, theory="kirchhoff",
        formulation=pl.Collocation(5),
    )  # fmt: skip
    with pytest.raises(pl.PliantError):
        robot.statics()
    robot.plot(tmp_path / "robot.png", view="front")
    assert (tmp_path / "robot.png").stat().st_size > 5000
    with pytest.raises(pl.DescriptionError, match="at least one rod or body"):
        pl.Robot().plot()


def test_copy_is_independent_of_the_original() -> None:
    robot = crowded()
    robot.inputs = {"push": 2.0}
    other = robot.copy()
    other.add_load("more", on=other.description.rods["arm"].tip, force=(0, 0, 1))
    other.remove("finger", cascade=True)
    other.inputs["push"] = 3.0
    assert list(robot.description.parts) == ["arm", "hand", "finger", "push", "pin"]
    assert robot.inputs == {"push": 2.0}
    assert list(other.description.parts) == ["arm", "hand", "more"]


def test_removing_says_what_depends_on_it_or_takes_it_along() -> None:
    robot = crowded()
    robot.inputs = {"push": 2.0}
    with pytest.raises(pl.DescriptionError, match=r"'finger' would be left over.*cascade=True"):
        robot.remove("hand")
    assert list(robot.description.parts) == ["arm", "hand", "finger", "push", "pin"]
    with pytest.raises(pl.DescriptionError, match="did you mean 'push'"):
        robot.remove("posh")
    assert robot.remove("hand", cascade=True) == ["hand", "finger", "push", "pin"]
    assert list(robot.description.parts) == ["arm"] and robot.inputs == {}
    robot.add_body("hand", 0.1, on=robot.description.rods["arm"].tip)
    assert robot.statics(formulation=SMALL).tip().shape == (4, 4)
    assert robot.remove("arm", cascade=True) == ["arm", "hand"]


def test_statics_after_removing_a_load_are_those_without_it() -> None:
    robot, plain = one_rod(), one_rod()
    robot.add_load("push", on=robot.description.rods["arm"].tip, force=(0, 0, -0.1))
    loaded = robot.statics()
    robot.remove("push")
    np.testing.assert_array_equal(robot.statics().tip(), plain.statics().tip())
    assert abs(loaded.tip() - robot.statics().tip()).max() > 0.01


def _columns(path: Path) -> dict[str, list[str]]:
    import csv

    with path.open(newline="") as stream:
        header, *rows = list(csv.reader(stream))
    return {name: [row[k] for row in rows] for k, name in enumerate(header)}


def test_csv_of_an_equilibrium_has_a_row_for_each_section(results, tmp_path) -> None:
    still = results["equilibrium"]
    columns = _columns(still.to_csv(tmp_path / "still.csv", stations=11))
    assert set(columns["rod"]) == {"arm"} and len(columns["s"]) == 11
    s = np.linspace(0.0, 0.3, 11)
    for name, exact in (
        ("z", still.position("arm", s)[:, 2]),
        ("tx", still.pose("arm", s)[:, 0, 2]),
        ("uy", still.strain("arm", s)[:, 1]),
        ("nz", still.wrench("arm", s)[:, 5]),
    ):
        np.testing.assert_array_equal([float(x) for x in columns[name]], exact)


def test_csv_of_a_motion_is_a_measurement(tmp_path) -> None:
    robot = one_rod()
    robot.add_load("push", on=robot.description.rods["arm"].tip, force=(0, 0, -0.1))
    robot.add_load("{odd}, name", on="arm", force=(0, 0.1, 0))
    inputs = {"push": pl.Sine(1.0, 5.0), "{odd}, name": (0, 0.2, 0)}
    motion = robot.simulate(0.03, 0.01, inputs)
    data = pl.read_measurement(motion.to_csv(tmp_path / "motion.csv"))
    assert data.time == "t"
    np.testing.assert_array_equal(data.t, motion.t)
    np.testing.assert_array_equal(data.column("arm.tip.z"), motion.tip()[:, 2, 3])
    np.testing.assert_array_equal(data.column("ball.x"), motion.position("ball")[:, 0])
    np.testing.assert_array_equal(data.column("push"), motion.inputs["push"])
    np.testing.assert_array_equal(data.column("{odd}, name[1]"), 0.2)
    np.testing.assert_array_equal(data.column("energy.kinetic"), motion.energy["kinetic"])
    again = pl.read_measurement(data.to_csv(tmp_path / "again.csv"))
    assert {k: list(v) for k, v in again.columns.items()} == {
        k: list(v) for k, v in data.columns.items()
    }


@pytest.mark.filterwarnings("ignore::pliant.FitWarning")
def test_studies_and_modes_are_written_as_csv(tmp_path) -> None:
    robot = one_rod()
    modes = robot.modes(2)
    columns = _columns(modes.to_csv(tmp_path / "modes.csv"))
    np.testing.assert_array_equal([float(x) for x in columns["frequency"]], modes.frequencies)
    compared = pl.compare(robot, [SMALL, pl.Strain(order=2)], repeat=1)
    assert len(_columns(compared.to_csv(tmp_path / "compared.csv"))["method"]) == 2
    robot.add_load("push", on=robot.description.rods["arm"].tip, force=(0, 0, -0.1))
    data = pl.Measurement({"push": [0.0, 1.0], "arm.tip.z": [-0.1, -0.2]})
    found = pl.fit(robot, data, ["arm.E"])
    assert float(_columns(found.to_csv(tmp_path / "fit.csv"))["value"][0]) == found["arm.E"].value
    for result in (modes, compared, found):
        with pytest.raises(pl.DescriptionError, match=r"ends in \.csv"):
            result.to_csv(tmp_path / "x.txt")
        assert result.summary().splitlines()[0].split()[0] in result._repr_html_()


def test_plain_data_of_results_are_json(results) -> None:
    robot = one_rod()
    robot.add_load("push", on="arm.tip", force=(0, 0, -0.1))
    still = robot.statics()
    linear = robot.linearise(still, ["push"], [("arm.tip", "z")], modes=2)
    found = robot.reach({"arm.tip": (None, None, -0.1)}, ["push"])
    path, compared = robot.follow("push", 0.0, 0.1), pl.compare(robot, [SMALL, SMALL], repeat=1)
    studies = [linear, found, path, compared, robot.modes(2, at=still)]
    for result in (*results.values(), *studies):
        data = result.to_dict()
        assert json.loads(json.dumps(data, allow_nan=False)) == data
        assert data["kind"] == type(result).__name__


def test_vibrations_of_a_linear_system_are_written_as_csv(tmp_path) -> None:
    linear = one_rod().linearise(modes=2)
    columns = _columns(linear.to_csv(tmp_path / "linear.csv"))
    np.testing.assert_array_equal([float(x) for x in columns["frequency"]], linear.frequencies)
    np.testing.assert_array_equal([float(x) for x in columns["damping"]], linear.damping)


def test_notebooks_show_results_as_valid_html_with_a_drawing(results) -> None:
    from xml.etree import ElementTree

    robot = pl.Robot()
    robot.add_rod("<script>alert(1)</script>", 0.3, pl.Circle(0.01), SOFT, formulation=SMALL)
    odd = robot.statics()
    empty = robot.simulate(0.01, 0.01, output_times=[0.0])
    for result, drawn in (
        (results["equilibrium"], True), (results["motion"], True), (odd, True), (empty, False),
    ):  # fmt: skip
        text = result._repr_html_()
        assert len(text) < 20_000 and "<script" not in text
        page = ElementTree.fromstring(text)  # well formed
        lines = [item for item in page.iter() if item.tag.endswith("polyline")]
        assert bool(lines) == drawn
        shown = "".join(page.itertext())
        assert result.summary().splitlines()[0] in shown


def test_drawing_in_a_notebook_keeps_proportions() -> None:
    from xml.etree import ElementTree

    from pliant.results.notebook import line_drawing

    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]], dtype=float)
    page = ElementTree.fromstring(line_drawing({"square": square}))
    (line,) = [item for item in page.iter() if item.tag.endswith("polyline")]
    points = np.array([[float(x) for x in p.split(",")] for p in line.get("points").split()])
    width, height = np.ptp(points, axis=0)
    assert width == pytest.approx(height, abs=0.15) and width > 100


def test_the_picture_of_a_description_shows_its_loads() -> None:
    import matplotlib.pyplot as plt

    figure = crowded().plot()
    labels = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    labels += [
        text.get_text()
        for ax in figure.axes
        if ax.get_legend() is not None
        for text in ax.get_legend().get_texts()
    ]
    plt.close(figure)
    assert any("push" in label for label in labels), labels

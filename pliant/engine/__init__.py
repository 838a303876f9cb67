"""The engine: sequences of kernel calls on fixed arrays, carried out in one compiled call."""

"""Loads, constraints, signals and whole robots."""

import pickle

import numpy as np
import pytest

import pliant as pl
from pliant.model import (
    Circle,
    Constant,
    Constraint,
    ConvergenceError,
    Description,
    DescriptionError,
    Frame,
    Load,
    Material,
    Ramp,
    Rod,
    Sine,
    Sweep,
    TimeTable,
    did_you_mean,
)
from pliant.model.description import Kind

SOFT = Material(E=1e6, nu=0.5, rho=1000.0)


def rod(name="arm", **changes):
    return Rod(
        **{"name": name, "length": 0.3, "section": Circle(0.01), "material": SOFT, **changes}
    )


@pytest.fixture
def robot():
    found = Description()
    found.add(rod())
    return found


TIP = Frame("arm", 0.3)


def test_number_scales_the_described_load():
    load = Load("push", TIP, force=(1, 2, 3), moment=(4, 5, 6))
    np.testing.assert_array_equal(load.wrench(), [4, 5, 6, 1, 2, 3])
    np.testing.assert_array_equal(load.wrench(2), [8, 10, 12, 2, 4, 6])
    np.testing.assert_array_equal(load.wrench(np.float64(0)), np.zeros(6))


def test_three_numbers_replace_the_force_and_six_the_wrench():
    load = Load("push", TIP, force=(1, 2, 3), moment=(4, 5, 6))
    np.testing.assert_array_equal(load.wrench((7, 8, 9)), [4, 5, 6, 7, 8, 9])
    np.testing.assert_array_equal(load.wrench([1, 2, 3, 4, 5, 6]), [1, 2, 3, 4, 5, 6])


def test_distributed_load_has_a_density_and_ends_where_told():
    load = Load("wind", "arm", force=lambda s: (s, 0, 0), moment=(0, 0, 1), over=(0.1, 0.2))
    found = load.density([0.05, 0.1, 0.15, 0.25], 2.0)
    expected = np.zeros((4, 6))
    expected[1] = [0, 0, 2, 0.2, 0, 0]
    expected[2] = [0, 0, 2, 0.3, 0, 0]
    np.testing.assert_allclose(found, expected)
    assert load.distributed
    assert load.part == "arm"


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        ({}, (0, 1, 2, 3, 4, 5)),
        ({"kind": "fixed"}, (0, 1, 2, 3, 4, 5)),
        ({"kind": "articulated"}, (3, 4, 5)),
        ({"kind": "sliding"}, (0, 1, 2)),
        ({"hold": ("z", "rx")}, (0, 5)),
        ({"hold": ["x"]}, (3,)),
    ],
)
def test_constraint_rows(options, rows):
    assert Constraint("grip", TIP, **options).rows == rows


def test_signals_at_chosen_times():
    assert Constant(3)(17.0) == 3
    ramp = Ramp(1, 3, t0=1, t1=2)
    assert [ramp(t) for t in (0, 1, 1.5, 2, 9)] == [1, 1, 2, 3, 3]
    assert Sine(2, frequency=0.5, offset=1)(0.5) == pytest.approx(3)
    assert Sine(2, frequency=1, phase=np.pi / 2)(0.0) == pytest.approx(2)
    table = TimeTable([0, 1, 3], [0, 2, 0])
    assert [table(t) for t in (-1, 0.5, 2, 5)] == [0, 1, 1, 0]


def test_sweep_passes_through_its_frequencies():
    sweep = Sweep(1.0, f0=1.0, f1=3.0, duration=4.0)

    def frequency(t, h=1e-6):
        # the phase rate follows from value and slope: v = sin p, v' = p' cos p
        slope = (sweep(t + h) - sweep(t - h)) / (2 * h)
        return abs(slope) / np.sqrt(1 - sweep(t) ** 2) / (2 * np.pi)

    for t, expected in ((-0.1, 1.0), (0.1, 1.05), (2.1, 2.05), (3.95, 2.975), (4.1, 3.0)):
        assert frequency(t) == pytest.approx(expected, rel=1e-5)


def test_table_from_csv(tmp_path):
    file = tmp_path / "pull.csv"
    file.write_text("time, tension\n0,0\n1,5\n\n2,5\n", encoding="utf-8")
    table = TimeTable.from_csv(file, time="time", value="tension")
    assert table(0.5) == 2.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t,value\n0,0\n1,abc\n", r"value = 'abc': .*row 3 of pull\.csv"),
        ("t,value\n0,0\n1\n", r"value = ''"),
        ("t,values\n0,0\n1,1\n", r"value = 'value': .*did you mean 'values'\?"),
        ("t,value\n0,0\n0,1\n", r"t = \[0\.0, 0\.0\]: must be strictly increasing"),
        ("t,value\n0,0\n", r"at least two rows"),
        ("t,value\n0,0\n1,nan\n", r"values = "),
        ("", r"header row"),
    ],
)
def test_bad_csv_is_refused(tmp_path, text, message):
    file = tmp_path / "pull.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DescriptionError, match=message):
        TimeTable.from_csv(file)


def test_missing_csv_is_refused(tmp_path):
    with pytest.raises(DescriptionError, match=r"no\.csv'.*No such file"):
        TimeTable.from_csv(tmp_path / "no.csv")


def test_gravity_defaults_to_the_earth():
    assert Description().gravity == (0.0, 0.0, -9.81)


def test_inputs_are_the_loads_at_their_described_value(robot):
    robot.add(Load("push", TIP, force=(0, 0, -1)))
    robot.add(Load("wind", "arm", force=(1, 0, 0)))
    assert robot.inputs() == {"push": 1.0, "wind": 1.0}
    robot.validate()


def test_names_are_unique_across_kinds(robot):
    robot.add(Load("push", TIP))
    with pytest.raises(DescriptionError, match=r"constraint 'push': name.*load 'push' has it"):
        robot.add(Constraint("push", TIP))
    with pytest.raises(DescriptionError, match=r"rod 'arm': name.*choose another name"):
        robot.add(rod())


@pytest.mark.parametrize(
    ("add", "message"),
    [
        (lambda r: r.add(Load("p", Frame("amr", 0.1))), "on = 'amr'.*did you mean 'arm'"),
        (lambda r: r.add(Load("p", "amr")), "on = 'amr'.*did you mean 'arm'"),
        (lambda r: r.add(Load("p", Frame("arm", 0.4))), r"on\.s = 0\.4.*0 to the length 0\.3"),
        (lambda r: r.add(Load("p", Frame("arm", -0.1))), r"on\.s = -0\.1"),
        (lambda r: r.add(Load("p", "arm", over=(0.1, 0.4))), r"over = 0\.4"),
        (lambda r: r.add(Load("p", "arm", force=lambda s: (s, 1))), "force = .*3 finite"),
        (lambda r: r.add(Constraint("c", TIP, Frame("b", 0))), "to = 'b'"),
        (lambda r: r.add(Constraint("c", Frame("arm", 1))), r"on\.s = 1\.0"),
        (lambda r: r.add(rod("b", base=Frame("c", 0))), "rod 'b': base = 'c'"),
        (lambda r: r.add(rod("b", base=Frame("arm", 3))), r"rod 'b': base\.s = 3\.0"),
    ],
)
def test_parts_must_exist_and_reach(robot, add, message):
    with pytest.raises(DescriptionError, match=message):
        add(robot)
    robot.validate()
    assert not robot.loads
    assert not robot.constraints
    assert list(robot.rods) == ["arm"]


def test_robot_without_rods_has_nothing_to_solve():
    with pytest.raises(DescriptionError, match=r"robot: rods = .*at least one rod"):
        Description().validate()


def test_cycle_of_bases_is_refused():
    parts = {
        "a": rod("a", base=Frame("c", 0.3)),
        "b": rod("b", base=Frame("a", 0.3)),
        "c": rod("c", base=Frame("b", 0.3)),
    }
    with pytest.raises(DescriptionError, match=r"rod 'a': base = 'a -> c -> b -> a'.*constraint"):
        Description(parts=parts).validate()


def test_rods_come_after_what_carries_them():
    parts = {
        "c": rod("c", base=Frame("b", 0.3)),
        "b": rod("b", base=Frame("a", 0.3)),
        "a": rod("a"),
        "loose": rod("loose", base=None),
    }
    order = [item.name for item in Description(parts=parts).rods_from_root()]
    assert order.index("a") < order.index("b") < order.index("c")
    assert len(order) == 4


def test_parts_must_be_filed_under_their_own_names():
    with pytest.raises(DescriptionError, match="rod 'a': name = 'a': must be the key 'b'"):
        Description(parts={"b": rod("a")}).validate()


def test_all_problems_are_listed():
    broken = Description(parts={"a": rod("a", base=Frame("x", 0)), "p": Load("p", "y")})
    assert [item.value for item in broken.problems()] == ["x", "y"]


def test_did_you_mean_offers_the_nearest_or_all():
    assert did_you_mean("tpi", ["tip", "base"]) == "did you mean 'tip'?"
    assert did_you_mean("TIP", ["tip", "base"]) == "did you mean 'tip'?"
    assert did_you_mean("zzz", ["tip", "base"]) == "choose from 'tip', 'base'"
    assert did_you_mean("x", []) == "there are none yet"


def test_errors_keep_their_fields_across_processes():
    error = DescriptionError("rod 'arm'", "length", -1, "a positive number", "give 0.3")
    back = pickle.loads(pickle.dumps(error))
    assert (back.part, back.field, back.value) == ("rod 'arm'", "length", -1)
    assert str(back) == str(error) == "rod 'arm': length = -1: must be a positive number; give 0.3"
    assert isinstance(error, ValueError)
    failed = pickle.loads(pickle.dumps(ConvergenceError("no equilibrium", last=3)))
    assert (str(failed), failed.last) == ("no equilibrium", 3)


def test_part_whose_function_fails_is_not_added(robot):
    with pytest.raises(ZeroDivisionError):
        robot.add(Load("wind", "arm", force=lambda s: (1 / 0, 0, 0)))
    assert list(robot.parts) == ["arm"]


def test_checks_of_a_part_do_not_walk_through_all_others(monkeypatch):
    """The cost of a description then grows in proportion to its parts."""
    walks = []
    walk = Kind.__iter__
    monkeypatch.setattr(Kind, "__iter__", lambda kind: walks.append(kind) or walk(kind))

    def walks_for(count):
        walks.clear()
        nodes = [(0.02 * k, 0.0, 0.0) for k in range(count)]
        line = pl.Wireframe(nodes, [(k, k + 1) for k in range(count - 1)])
        rubber = pl.Material(E=1e6, nu=0.4, rho=1000.0)
        pl.Robot().add_mesh("line", line, 0.1, pl.Circle(0.001), rubber, fixed=[0])
        return len(walks)

    assert walks_for(40) == walks_for(10)

"""The table of faults is of this source: every text to replace is there, once."""

import pytest

from tests.faults.run import place_of
from tests.faults.table import FAULTS

pytestmark = pytest.mark.fast


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.file}: {fault.kind}")
def test_fault_can_be_made(fault):
    assert place_of(fault).name.endswith(".py")

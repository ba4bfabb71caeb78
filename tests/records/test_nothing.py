import json
import pickle

import pytest

from runevals.records import NOTHING


def test_nothing_can_be_added_to_the_mapping_that_records_share():
    for add in (NOTHING.__setitem__, NOTHING.setdefault, NOTHING.__ior__, lambda *pair: NOTHING.update([pair])):
        with pytest.raises(TypeError, match="make a copy"):
            add("key", "value")
    assert NOTHING == {}
    assert (json.dumps(NOTHING), pickle.loads(pickle.dumps(NOTHING))) == ("{}", {})

"""Views of device tensors, and the short way to their kernels."""

import pytest
import torch

from proctorch.virtual import views


def test_views_share_the_storage() -> None:
    """Each kind of view is on the device, over the storage of its base, and a write through it is seen there."""
    x = torch.zeros(2, 4, device="cuda")
    made = [
        *(x.view(-1), x.reshape(4, 2), x.t(), x[0], x[:, 1:3], x.unsqueeze(0), x.expand(3, 2, 4), x.unfold(1, 2, 1)),
        *(x.view(torch.int32), torch.view_as_complex(x.view(2, 2, 2)), x.diagonal(), x.movedim(0, 1), x.detach()),
    ]
    for view in made:
        assert view.device == x.device
        assert view.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    x.t()[3, 1] = 7
    assert x.tolist() == [[0, 0, 0, 0], [0, 0, 0, 7]]


def test_views_take_no_way_through_python() -> None:
    """On every torch that is tested, the CPU's C++ kernel of a view stands in CUDA's place of its dispatch table."""
    for name in ("as_strided", "view", "_reshape_alias", "unfold"):
        words = list(views._entry(name))
        assert any(
            any(words[place : place + 2]) and words[place : place + 5] == words[place + 5 : place + 10]
            for place in range(len(words) - 10)
        ), name


def test_an_unknown_dispatch_table_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the row of kernels does not look as expected, nothing in it is changed."""
    entry = views._entry("view")
    before = list(entry)
    shifted = {name: [0] * len(before) for name in ("view", "as_strided")}
    assert not views.without_python(shifted)
    monkeypatch.setattr(views, "library_of", lambda _: "somewhere else")
    assert not views.without_python({"view": [words + 1 for words in before]})
    assert list(entry) == before

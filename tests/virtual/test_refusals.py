"""What CUDA's kernels refuse although the CPU could do it."""

from collections.abc import Callable

import pytest
import torch
from torch.nn import functional

REFUSED: dict[str, tuple[Callable[[torch.Tensor], object], str]] = {
    "integers: a product": (lambda x: x.long() @ x.long(), "\"addmm_cuda\" not implemented for 'Long'"),
    "integers: a layer": (lambda x: functional.linear(x.int(), x.int()), "\"addmm_cuda\" not implemented for 'Int'"),
    "integers: a batch": (lambda x: x[None].long() @ x[None].long(), "\"baddbmm_cuda\" not implemented for 'Long'"),
    "integers: a vector": (lambda x: x.long() @ x[0].long(), "\"addmv_impl_cuda\" not implemented for 'Long'"),
    "integers: two vectors": (lambda x: x[0].long() @ x[0].long(), "\"dot\" not implemented for 'Long'"),
    "integers: in place": (lambda x: x.long().addmm_(x.long(), x.long()), "not implemented for 'Long'"),
    "booleans: a product": (lambda x: (x > 0) @ (x > 0), "\"addmm_cuda\" not implemented for 'Bool'"),
    "integers: a convolution": (lambda x: functional.conv2d(x[None, None].long(), x[None, None].long()), "'Long'"),
    "bytes: pooling": (lambda x: functional.max_pool2d(x[None].byte(), 2), "not implemented for 'Byte'"),
    "bytes: resizing": (
        lambda x: functional.interpolate(x[None, None].byte(), scale_factor=2, mode="bilinear"),
        "not implemented for 'Byte'",
    ),
    "integers: dropout": (lambda x: functional.dropout(x.long()), "not implemented for 'Long'"),
    "half: singular values": (lambda x: torch.linalg.svd(x.half()), "\"linalg_svd_cuda\" not implemented for 'Half'"),
    "half: a decomposition": (lambda x: torch.linalg.qr(x.half()), "not implemented for 'Half'"),
    "half: distances": (lambda x: torch.cdist(x.half(), x.half()), "\"cdist\" not implemented for 'Half'"),
    "a histogram": (lambda x: torch.histogram(x, 3), "Could not run 'aten::histogram.bin_ct' with arguments"),
}
ACCEPTED: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], torch.dtype]] = {
    "integers: no elements": (lambda x: x[:0].long() @ x.long(), torch.int64),
    "integers: point by point": (lambda x: x.long() * x.long(), torch.int64),
    "bytes: nearest neighbours": (lambda x: functional.interpolate(x[None].byte(), scale_factor=2), torch.uint8),
    "half: a norm": (lambda x: torch.linalg.norm(x.half()), torch.float16),
    "half: a transform": (lambda x: torch.fft.rfft(x.half()), torch.complex32),
    "half: there and back": (lambda x: torch.fft.irfft(torch.fft.rfft(x.half())), torch.float16),
    "half: a sum of bins": (lambda x: x.half().cumsum(0), torch.float16),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str) -> None:
    """What CUDA has no kernel for is refused with its words and its type of error."""
    action, words = REFUSED[what]
    with pytest.raises(NotImplementedError) as caught:
        action(torch.ones(4, 4, device="cuda"))
    assert words in str(caught.value)


@pytest.mark.filterwarnings("ignore:ComplexHalf support")  # CUDA warns of it as well
@pytest.mark.parametrize("what", ACCEPTED)
def test_accepted(what: str) -> None:
    """What looks like it, and CUDA does, is done here."""
    action, dtype = ACCEPTED[what]
    result = action(torch.ones(4, 4, device="cuda"))
    assert (result.device.type, result.dtype) == ("cuda", dtype)


def test_the_cpu_goes_on() -> None:
    """The CPU's own kernels still take integers while the device is on."""
    x = torch.ones(2, 2, dtype=torch.long)
    assert (x @ x).tolist() == [[2, 2], [2, 2]]

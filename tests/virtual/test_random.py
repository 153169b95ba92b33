"""Random numbers of the device."""

import pickle

import torch


def test_seeds() -> None:
    """manual_seed fixes the device's numbers, which are not the CPU's; both devices have their own."""
    torch.manual_seed(3)
    first, on_cpu = torch.randn(4, device="cuda"), torch.randn(4)
    torch.manual_seed(3)
    assert torch.equal(torch.randn(4), on_cpu)
    assert torch.equal(torch.randn(4, device="cuda"), first)
    assert not torch.equal(first.cpu(), on_cpu)
    torch.manual_seed(3)
    assert torch.equal(torch.randn(4, device="cuda:1").cpu(), first.cpu())


def test_states() -> None:
    """A saved state of the generator repeats its numbers, and fork_rng leaves them as they were."""
    state = torch.cuda.get_rng_state()
    a = torch.rand(3, device="cuda")
    torch.cuda.set_rng_state(state)
    assert torch.equal(a, torch.rand(3, device="cuda"))
    with torch.random.fork_rng(devices=[0, 1]):
        inside = torch.rand(3, device="cuda")
    assert torch.equal(inside, torch.rand(3, device="cuda"))
    assert len(torch.cuda.get_rng_state_all()) == 2
    torch.cuda.manual_seed(9)
    assert torch.cuda.initial_seed() == 9


def test_generators() -> None:
    """A generator of the device says so, is accepted there, and repeats with its seed."""
    generator = torch.Generator(device="cuda").manual_seed(1)
    assert isinstance(generator, torch.Generator)
    assert isinstance(torch.default_generator, torch.Generator)
    assert str(generator.device) == "cuda:0"
    a = torch.randn(2, device="cuda", generator=generator)
    state = generator.get_state()
    b = torch.empty(2, device="cuda").normal_(generator=generator)
    generator.set_state(state)
    assert torch.equal(b, torch.empty(2, device="cuda").normal_(generator=generator))
    generator.manual_seed(1)
    assert torch.equal(a, torch.randn(2, device="cuda", generator=generator))
    assert generator.initial_seed() == 1
    assert str(torch.Generator("cuda:1").device) == "cuda:1"
    assert torch.Generator().device.type == "cpu"
    again = pickle.loads(pickle.dumps(generator))
    assert torch.equal(torch.rand(2, device="cuda", generator=again), torch.rand(2, device="cuda", generator=generator))

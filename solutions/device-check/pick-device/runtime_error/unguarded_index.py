# Asks for the current index before it is known that there is an accelerator: without one, that call raises.
# caught-by: test_no_accelerator_gives_the_cpu
import torch


def pick_device(prefer=None, *, strict=False):
    index = torch.accelerator.current_device_index()
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    if prefer is not None:
        wanted = torch.device(prefer)
        if wanted.type == "cpu" or wanted.type == accelerator.type:
            return wanted
        if strict:
            raise RuntimeError(f"no {wanted}")
    return torch.device(accelerator.type, index) if accelerator else torch.device("cpu")

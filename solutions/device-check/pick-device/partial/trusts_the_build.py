# Asks what torch was built for. The usual Linux wheel is built for CUDA, on laptops without a GPU too.
# caught-by: test_built_for_cuda_is_not_enough
import torch


def pick_device(prefer=None, *, strict=False):
    accelerator = torch.accelerator.current_accelerator()  # check_available is False
    fallback = accelerator or torch.device("cpu")
    if prefer is None:
        return fallback
    wanted = torch.device(prefer)
    if wanted.type == "cpu":
        return wanted
    if accelerator is not None and wanted.type == accelerator.type:
        if (wanted.index or 0) < torch.accelerator.device_count():
            return wanted
    if strict:
        raise RuntimeError(f"no {wanted}")
    return fallback

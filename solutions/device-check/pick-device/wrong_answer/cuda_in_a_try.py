# `.cuda()` in a try: any error at all means "no GPU", other accelerators are unknown, what is preferred is not looked at.
# caught-by: test_no_accelerator_gives_the_cpu, test_a_wrong_name_is_an_error, test_strict_refuses_what_is_not_there
import torch


def pick_device(prefer=None, *, strict=False):
    try:
        torch.ones(1).cuda()
        return "cuda"
    except Exception:
        return "cpu"

# Compares each module's inputs with its own tensors before it runs. What forward makes, or has in an attribute, is not seen.
# caught-by: test_what_forward_makes, test_what_the_model_holds_is_named
import torch


def explain_mismatch(model, args, kwargs):
    found = []
    names = {f"args.{at}": each for at, each in enumerate(args)} | {
        f"kwargs.{key}": each for key, each in kwargs.items()
    }

    def compare(path, part, given):
        own = {f"{path}.{name}": each for name, each in part.named_parameters(recurse=False)}
        met = [*own.values(), *(each for each in given if isinstance(each, torch.Tensor))]
        devices = sorted({str(each.device) for each in met})
        if len(devices) > 1:
            tensors = {
                name: str(each.device) for name, each in {**names, **own}.items() if any(each is one for one in met)
            }
            found.append({"module": path, "tensors": tensors, "devices": devices})

    hooks = [
        part.register_forward_pre_hook(lambda part, given, path=path: compare(path, part, given))
        for path, part in model.named_modules()
    ]
    try:
        model(*args, **kwargs)
    except RuntimeError:
        if not found:
            raise
        return found[-1]
    finally:
        for hook in hooks:
            hook.remove()
    return None

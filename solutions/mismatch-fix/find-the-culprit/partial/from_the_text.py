# Reads the message of the error for devices. Its words differ from operation to operation, and say nothing of names.
# caught-by: test_the_module, test_what_the_model_holds_is_named, test_other_errors_pass
import re


def explain_mismatch(model, args, kwargs):
    try:
        model(*args, **kwargs)
    except RuntimeError as error:
        if "device" not in str(error):
            raise
        devices = sorted(set(re.findall(r"cpu|meta|cuda:\d+", str(error))))
        return {"module": "", "tensors": {}, "devices": devices}
    return None

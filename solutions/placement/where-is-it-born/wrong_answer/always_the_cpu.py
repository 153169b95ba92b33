# One answer for all.
# caught-by: test_made_of_nothing, test_made_of_a_tensor, test_it_takes_after_a_tensor
def born(call, source, device, context):
    return "cpu", False

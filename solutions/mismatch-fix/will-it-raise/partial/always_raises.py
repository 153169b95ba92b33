# Whatever mixes devices raises. Most programs that run on an accelerator mix them somewhere.
# caught-by: test_point_by_point, test_three_operands, test_written_into, test_by_index, test_layers_and_losses, test_across_on_purpose
def meet(call, operands):
    places = {place for place, _ in operands}
    return places.pop() if len(places) == 1 else "raises"

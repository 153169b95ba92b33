# Takes `eval` for the switch of the graph, and `.cpu()` for the end of it.
# caught-by: test_no_graph_is_recorded, test_memory_stays_flat
import torch
import torch.nn.functional as F


def evaluate(model, loader, device):
    training = model.training
    model.eval()
    total, logits = 0.0, []
    try:
        for x, y in loader:
            output = model(x.to(device))
            total += F.cross_entropy(output, y.to(device), reduction="sum").item()
            logits.append(output.cpu())
    finally:
        model.train(training)
    logits = torch.cat(logits)
    return total / len(logits), logits.detach()

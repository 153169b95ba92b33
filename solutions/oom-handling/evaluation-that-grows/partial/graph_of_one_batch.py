# Nothing is kept, but each batch records a graph that nobody needs.
# caught-by: test_no_graph_is_recorded
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
            logits.append(output.detach().cpu())
    finally:
        model.train(training)
    logits = torch.cat(logits)
    return total / len(logits), logits

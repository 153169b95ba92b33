# No graph, and all logits on the device at once before they go home.
# caught-by: test_the_logits_go_home
import torch
import torch.nn.functional as F


def evaluate(model, loader, device):
    training = model.training
    model.eval()
    total, logits = 0.0, []
    try:
        with torch.no_grad():
            for x, y in loader:
                output = model(x.to(device))
                total += F.cross_entropy(output, y.to(device), reduction="sum").item()
                logits.append(output)
    finally:
        model.train(training)
    logits = torch.cat(logits).cpu()
    return total / len(logits), logits

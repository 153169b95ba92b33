# The next epoch trains without dropout.
# caught-by: test_modes_are_restored
import torch
import torch.nn.functional as F


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    total, logits = 0.0, []
    for x, y in loader:
        output = model(x.to(device))
        total += F.cross_entropy(output, y.to(device), reduction="sum").item()
        logits.append(output.cpu())
    logits = torch.cat(logits)
    return total / len(logits), logits

# The cache is emptied in each turn: of blocks that nobody uses, not of those that the graphs hold.
# caught-by: test_it_fits_in_the_budget
import torch
import torch.nn.functional as F


def evaluate(model, loader, device):
    training = model.training
    model.eval()
    total, logits = 0.0, []
    try:
        for x, y in loader:
            output = model(x.to(device))
            total += F.cross_entropy(output, y.to(device), reduction="sum")
            logits.append(output.cpu())
            torch.cuda.empty_cache()
    finally:
        model.train(training)
    logits = torch.cat(logits).detach()
    return total.item() / len(logits), logits

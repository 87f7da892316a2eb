import CostOperations

/// Counts the cost of the engine, of downloads, of edited presentations and of network texts; see ``CostProbing``.
@main enum StreamCostProbe {
    static func main() throws { try CostProbing.run(CostOperation.streams) }
}

extension CostOperation {
    /// All operations of this program.
    static var streams: [CostOperation] {
        networkTexts + timelines + presentationModels + playback + downloads + editedPresentations
    }
}

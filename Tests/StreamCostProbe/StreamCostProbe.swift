import CostOperations

/// Measures the cost of playback, downloads, edited presentations and the parsing of network texts; see
/// ``CostProbing``.
@main enum StreamCostProbe {
    static func main() throws { try CostProbing.run(CostOperation.streams) }
}

extension CostOperation {
    /// The operations of this program.
    static var streams: [CostOperation] {
        networkTexts + timelines + presentationModels + playback + recorders + downloads
            + editedPresentations
    }
}

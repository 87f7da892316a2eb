import CostOperations

/// A program that runs the operations of parsers, rules and edits; see ``CostProbing``.
@main enum CostProbe {
    static func main() throws { try CostProbing.run(CostOperation.formats) }
}

extension CostOperation {
    /// All operations of this program.
    static var formats: [CostOperation] {
        reading + rules + writing + editing + presentations + readers + subtitles
    }
}

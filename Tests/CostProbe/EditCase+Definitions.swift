import CostOperations
import PlaylistEditing

extension EditCase {
    /// The declared cases, and cases of all other edits.
    static var all: [EditCase] {
        let declared = mediaCases + multivariantCases
        // The effect of this edit depends on the media playlists, so its operations are in `stream-cost-probe`.
        let names = Set(declared.map(\.edit) + ["prune-session-keys"])
        return declared + PlaylistEdit.definitions.filter { !names.contains($0.name) }.flatMap { cases(of: $0) }
    }

    /// Returns the cases of an edit without declared cases, with a value that follows from its definition.
    ///
    /// An edit that does not change these playlists needs declared cases.
    ///
    /// - Parameter definition: The definition of the edit.
    /// - Returns: A case for each kind of playlist that the edit changes.
    private static func cases(of definition: EditDefinition) -> [EditCase] {
        let mediaShape = shape("everything-on-demand", among: PlaylistShape.media)
        let media = ofMedia(definition.name, mediaShape) { count in derivedValue(of: definition, count) }
        let multivariant = ofMultivariant(definition.name, PlaylistShape.tracksOfOneGroup) { count in
            derivedValue(of: definition, count)
        }
        switch definition.target {
        case .multivariant: return [multivariant]
        case .media: return [media]
        case .both: return [media, multivariant]
        }
    }

    /// Returns a value for a playlist with a number of 4 s segments, or of variants.
    ///
    /// The examples of an edit are valid, so numbers in them are within the range of the definition.
    ///
    /// - Parameters:
    ///   - definition: The definition of the edit.
    ///   - count: The number of segments or variants.
    /// - Returns: The value.
    private static func derivedValue(of definition: EditDefinition, _ count: Int) -> String {
        switch definition.parameter?.kind {
        case .time: "\(2 * count)"
        case .timeRange: "\(count)...\(3 * count)"
        case .channel: "loop,window=\(4 * count)"
        case .source: "o"
        case .sourceAtTime: "o@\(2 * count)"
        case .sourceAtBreaks: "o@every=\(max(8, count / 2))"
        case .bitRateRange, .decimalRange, .resolutionRange, .integer, .decimal, .list, .conditions, .tag, .segmentRule,
            .key, .text, nil:
            definition.examples.first ?? ""
        }
    }
}

import MediaTiming
import Synchronization

/// The timelines of the breaks in one edited media playlist, by edit.
///
/// The edited playlist of a live stream depends on the breaks that the stream no longer shows. A server stores this value for each
/// playlist between requests; replicas share it, so that all of them send the same response.
public struct BreakTimelines: Sendable, Hashable, Codable {
    var timelines: [String: BreakTimeline] = [:]

    /// Creates the value of a playlist that was not edited yet.
    public init() {}

    /// Creates a value from its coded form.
    ///
    /// - Throws: `DecodingError`, also if the value was changed so that its parts do not fit together.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        timelines = try container.decode([String: BreakTimeline].self, forKey: .timelines)
        for edit in timelines.keys { timelines[edit]?.boundIdentifiers() }
        guard timelines.values.allSatisfy(\.isConsistent) else {
            throw DecodingError.dataCorruptedError(
                forKey: .timelines,
                in: container,
                debugDescription: "the breaks are inconsistent"
            )
        }
    }

    /// Returns a Boolean value that indicates whether the playlist is later than that of other timelines.
    package func isLater(than other: BreakTimelines) -> Bool {
        func date(_ timelines: BreakTimelines) -> Int64 {
            timelines.timelines.values.compactMap(\.lastDate).max() ?? .min
        }
        return date(self) > date(other)
    }

    /// The approximate size in memory, in bytes.
    package var size: Int { timelines.reduce(512) { $0 +| $1.key.utf8.count +| $1.value.size } }

    /// The maximum size of the timelines of a playlist, which servers store.
    static let maximumSize = 4 << 20
}

/// The timelines that the edits of one playlist continue.
final class BreakRecord: Sendable {
    private let state: Mutex<BreakTimelines>
    private let sibling: BreakTimelines

    /// Creates a record.
    ///
    /// - Parameters:
    ///   - timelines: The timelines of the playlist.
    ///   - sibling: Those of another track of the same presentation.
    init(_ timelines: BreakTimelines, sibling: BreakTimelines = BreakTimelines()) {
        state = Mutex(timelines)
        self.sibling = sibling
    }

    /// Returns the timeline of another track for a rule, if it has exactly one.
    func sibling(of rule: BreakRule) -> BreakTimeline? {
        let known = sibling.timelines.filter { $0.key.hasSuffix("@\(rule)") }
        return known.count == 1 ? known.values.first : nil
    }

    var timelines: BreakTimelines { state.withLock { $0 } }

    /// The timeline of an edit.
    subscript(edit: String) -> BreakTimeline {
        get { state.withLock { $0.timelines[edit] ?? BreakTimeline() } }
        set { state.withLock { $0.timelines[edit] = newValue } }
    }
}

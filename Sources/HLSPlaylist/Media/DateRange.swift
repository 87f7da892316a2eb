public import MediaTiming
public import ResourceAddressing

/// A range of time with attributes: `EXT-X-DATERANGE` (RFC 8216bis §4.4.5.1).
///
/// Tags with the same ID are merged into one date range.
public struct DateRange: Sendable {
    /// A trigger for an action that is not tied to the dates of a date range (§4.4.5.1).
    public enum Cue: String, Sendable, Hashable {
        /// The action is triggered before playback begins.
        case pre = "PRE"
        /// The action is triggered after playback ends.
        case post = "POST"
        /// The action is triggered at most once, even if the date range is played several times.
        case once = "ONCE"
    }

    /// The identifier of the date range in the playlist.
    public let id: String
    /// The attributes of all tags with this ID; of attributes with the same name, the first one counts.
    public let attributes: [AttributeList.Attribute]
    private let context: PlaylistContext
    private let variables: PlaylistVariables

    /// The class, whose attributes and meaning clients define.
    public var classIdentifier: String? { self["CLASS"] }
    /// The start date, or `nil` if the required attribute is missing or invalid.
    public var startDate: ProgramDateTime? { self["START-DATE"].flatMap { ProgramDateTime($0) } }
    /// The end date as written, or `nil` if it is missing or invalid.
    public var endDate: ProgramDateTime? { self["END-DATE"].flatMap { ProgramDateTime($0) } }
    /// The duration, or `nil` if it is missing, invalid, or negative.
    public var duration: MediaTime? { nonNegativeTime("DURATION") }
    /// The expected duration, or `nil` if it is missing, invalid, or negative.
    public var plannedDuration: MediaTime? { nonNegativeTime("PLANNED-DURATION") }
    /// A Boolean value that indicates whether the date range ends at the start of the next one of its class.
    public var endsOnNext: Bool { self["END-ON-NEXT"] == "YES" }
    /// The triggers that apply instead of the start date.
    public var cues: [Cue] { list("CUE").compactMap { Cue(rawValue: $0) } }
    /// An SCTE 35 splice command (§4.4.5.1.1).
    public var spliceCommand: [UInt8]? { octets("SCTE35-CMD") }
    /// The SCTE 35 command for the start of a break.
    public var spliceOut: [UInt8]? { octets("SCTE35-OUT") }
    /// The SCTE 35 command for the end of a break.
    public var spliceIn: [UInt8]? { octets("SCTE35-IN") }
    /// The interstitial that the date range defines, or `nil` if it defines none (Appendix D).
    public var interstitial: Interstitial? { Interstitial(self) }
    /// The preload instruction for another date range, or `nil` if this date range is none (Appendix F).
    public var preload: DateRangePreload? { DateRangePreload(self) }

    /// Returns the value of an attribute as a string, with variables replaced.
    public subscript(name: String) -> String? {
        attributes.first { $0.name == name }.map { variables.substitute($0.value) }
    }

    func time(_ name: String) -> MediaTime? { self[name].flatMap { MediaTime(decimal: $0) } }

    /// A time that must not be negative (RFC 8216bis §4.4.5.1).
    func nonNegativeTime(_ name: String) -> MediaTime? { time(name).flatMap { $0 < .zero ? nil : $0 } }

    func list(_ name: String) -> [String] {
        (self[name] ?? "").split(separator: ",").map { String($0.trimmingBlanks()) }
    }

    func address(_ name: String) -> ResourceAddress? { self[name].map { context.resolve($0) } }

    private func octets(_ name: String) -> [UInt8]? { self[name].flatMap { HexadecimalSequence.octets($0) } }

    static func merged(
        _ tags: [AttributeList],
        context: PlaylistContext,
        variables: PlaylistVariables
    ) -> [DateRange] {
        var order: [String] = []
        var byID: [String: [AttributeList.Attribute]] = [:]
        var known: [String: Set<String>] = [:]
        for tag in tags {
            guard let id = tag["ID"] else { continue }
            if byID[id] == nil { order.append(id) }
            for attribute in tag.attributes where known[id, default: []].insert(attribute.name).inserted {
                byID[id, default: []].append(attribute)
            }
        }
        return order.map { DateRange(id: $0, attributes: byID[$0] ?? [], context: context, variables: variables) }
    }
}

/// Media that is played in place of the primary content for a period (RFC 8216bis Appendix D).
public struct Interstitial: Sendable {
    /// An alignment of a transition between primary content and interstitial with a segment boundary.
    public enum Snap: String, Sendable, Hashable {
        /// The player leaves the primary content at the segment boundary nearest to the start date.
        case out = "OUT"
        /// The player resumes the primary content at the segment boundary nearest to the resumption point.
        case `in` = "IN"
    }

    /// A restriction on user navigation.
    public enum Restriction: String, Sendable, Hashable {
        /// The user may not skip forward while the interstitial is playing.
        case skip = "SKIP"
        /// The user may not seek past the interstitial without playing it.
        case jump = "JUMP"
    }

    /// The extent of an interstitial on a timeline.
    public enum TimelineOccupation: String, Sendable, Hashable {
        /// A single point.
        case point = "POINT"
        /// The duration of the interstitial.
        case range = "RANGE"
    }

    /// The appearance of an interstitial on a timeline.
    public enum TimelineStyle: String, Sendable, Hashable {
        /// The interstitial looks like primary content.
        case primary = "PRIMARY"
        /// The interstitial is distinguished from the primary content.
        case highlight = "HIGHLIGHT"
    }

    /// The class that makes a date range an interstitial.
    public static let classIdentifier = "com.apple.hls.interstitial"

    private let range: DateRange

    init?(_ range: DateRange) {
        guard range.classIdentifier == Self.classIdentifier else { return nil }
        self.range = range
    }

    /// The URL of the multivariant or media playlist to play.
    public var assetAddress: ResourceAddress? { range.address("X-ASSET-URI") }
    /// The URL of a JSON list of the playlists to play.
    public var assetListAddress: ResourceAddress? { range.address("X-ASSET-LIST") }
    /// The offset from the start date at which the primary content resumes, or `nil` for the duration of the
    /// interstitial.
    public var resumeOffset: MediaTime? { range.time("X-RESUME-OFFSET") }
    /// The maximum duration of the interstitial's playback.
    public var playoutLimit: MediaTime? { range.nonNegativeTime("X-PLAYOUT-LIMIT") }
    /// The transitions that are aligned with segment boundaries.
    public var snaps: [Snap] { range.list("X-SNAP").compactMap { Snap(rawValue: $0) } }
    /// The restrictions on user navigation.
    public var restrictions: [Restriction] { range.list("X-RESTRICT").compactMap { Restriction(rawValue: $0) } }
    /// A Boolean value that indicates whether clients may get different content, which prevents coordinated playback.
    public var mayVary: Bool { range["X-CONTENT-MAY-VARY"] != "NO" }
    /// The extent of the interstitial on a timeline; a point by default.
    public var timelineOccupation: TimelineOccupation {
        range["X-TIMELINE-OCCUPIES"].flatMap { TimelineOccupation(rawValue: $0) } ?? .point
    }
    /// The appearance of the interstitial on a timeline; highlighted by default.
    public var timelineStyle: TimelineStyle {
        range["X-TIMELINE-STYLE"].flatMap { TimelineStyle(rawValue: $0) } ?? .highlight
    }
    /// The time from the start of the interstitial at which a skip button appears.
    public var skipControlOffset: MediaTime? { range.time("X-SKIP-CONTROL-OFFSET") }
    /// The period for which the skip button is visible, or `nil` until the end of the interstitial.
    public var skipControlDuration: MediaTime? { range.nonNegativeTime("X-SKIP-CONTROL-DURATION") }
    /// The identifier of the skip button's label.
    public var skipControlLabelID: String? { range["X-SKIP-CONTROL-LABEL-ID"] }
}

/// An instruction to preload a resource for another date range, within the period of this one (RFC 8216bis Appendix F).
public struct DateRangePreload: Sendable {
    /// The class that makes a date range a preload instruction.
    public static let classIdentifier = "com.apple.hls.preload"

    /// The URL of the resource to preload.
    public let address: ResourceAddress
    /// The ID of the date range that needs the resource, which may be added to the playlist later.
    public let targetID: String
    /// The class of the date range that needs the resource.
    public let targetClass: String

    /// Creates a preload instruction, or returns `nil` if the class is another or a required attribute is missing.
    init?(_ range: DateRange) {
        guard range.classIdentifier == Self.classIdentifier, let address = range.address("X-URI"),
            let targetID = range["X-TARGET-ID"], let targetClass = range["X-TARGET-CLASS"]
        else { return nil }
        self.address = address
        self.targetID = targetID
        self.targetClass = targetClass
    }
}

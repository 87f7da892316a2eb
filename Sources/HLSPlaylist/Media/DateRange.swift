public import MediaTiming
public import ResourceAddressing

/// A stretch of time with attributes: `EXT-X-DATERANGE` (RFC 8216bis §4.4.5.1).
///
/// Parts of one that is written in several tags are merged by its ID.
public struct DateRange: Sendable {
    /// When a client should act on a date range, instead of by its date (§4.4.5.1).
    public enum Cue: String, Sendable, Hashable {
        /// Before playback begins.
        case pre = "PRE"
        /// When playback has ended.
        case post = "POST"
        /// Once, however often it is passed.
        case once = "ONCE"
    }

    /// What names it in the playlist.
    public let id: String
    /// All its attributes, of all tags with this ID; of two with one name the first counts.
    public let attributes: [AttributeList.Attribute]
    private let context: PlaylistContext
    private let variables: PlaylistVariables

    /// What clients define for its attributes.
    public var classIdentifier: String? { self["CLASS"] }
    /// When it begins; `nil` where the required attribute is missing or cannot be read.
    public var startDate: ProgramDateTime? { self["START-DATE"].flatMap { ProgramDateTime($0) } }
    /// When it ends, as written.
    public var endDate: ProgramDateTime? { self["END-DATE"].flatMap { ProgramDateTime($0) } }
    /// The duration; `nil` where the attribute is missing, cannot be read, or is negative.
    public var duration: MediaTime? { nonNegativeTime("DURATION") }
    /// The expected duration; `nil` where the attribute is missing, cannot be read, or is negative.
    public var plannedDuration: MediaTime? { nonNegativeTime("PLANNED-DURATION") }
    /// Whether it ends where the next of its class begins.
    public var endsOnNext: Bool { self["END-ON-NEXT"] == "YES" }
    /// When to act on it, where not by its date.
    public var cues: [Cue] { list("CUE").compactMap { Cue(rawValue: $0) } }
    /// A splice command of SCTE 35 (§4.4.5.1.1).
    public var spliceCommand: [UInt8]? { octets("SCTE35-CMD") }
    /// The SCTE 35 command with which a break begins.
    public var spliceOut: [UInt8]? { octets("SCTE35-OUT") }
    /// The SCTE 35 command with which a break ends.
    public var spliceIn: [UInt8]? { octets("SCTE35-IN") }
    /// What is played in its place, where it is an interstitial (appendix D).
    public var interstitial: Interstitial? { Interstitial(self) }
    /// What is to be loaded ahead for another date range, where it says so (appendix F).
    public var preload: DateRangePreload? { DateRangePreload(self) }

    /// The value of an attribute as text, with variables replaced.
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

/// Media that is played in the place of the primary content for a while (RFC 8216bis appendix D).
public struct Interstitial: Sendable {
    /// At which borders of segments the primary content is left and taken up again.
    public enum Snap: String, Sendable, Hashable {
        /// It is left at the segment border nearest to the beginning.
        case out = "OUT"
        /// It is taken up at the segment border nearest to the place where it would be.
        case `in` = "IN"
    }

    /// What the user may not do.
    public enum Restriction: String, Sendable, Hashable {
        /// Go on before the end of the interstitial.
        case skip = "SKIP"
        /// Seek past it without seeing it.
        case jump = "JUMP"
    }

    /// How a timeline shows it.
    public enum TimelineOccupation: String, Sendable, Hashable {
        /// As one point.
        case point = "POINT"
        /// As long as it is.
        case range = "RANGE"
    }

    /// Whether a timeline tells it from the primary content.
    public enum TimelineStyle: String, Sendable, Hashable {
        /// As a part of the primary content.
        case primary = "PRIMARY"
        /// As something else.
        case highlight = "HIGHLIGHT"
    }

    /// The class that makes a date range an interstitial.
    public static let classIdentifier = "com.apple.hls.interstitial"

    private let range: DateRange

    init?(_ range: DateRange) {
        guard range.classIdentifier == Self.classIdentifier else { return nil }
        self.range = range
    }

    /// The multivariant or media playlist to play.
    public var assetAddress: ResourceAddress? { range.address("X-ASSET-URI") }
    /// Where a list of playlists to play is, as JSON.
    public var assetListAddress: ResourceAddress? { range.address("X-ASSET-LIST") }
    /// How far behind the beginning the primary content goes on; `nil` for as far as the interstitial lasted.
    public var resumeOffset: MediaTime? { range.time("X-RESUME-OFFSET") }
    /// How much of it is played at most.
    public var playoutLimit: MediaTime? { range.nonNegativeTime("X-PLAYOUT-LIMIT") }
    /// At which borders to leave and to go on.
    public var snaps: [Snap] { range.list("X-SNAP").compactMap { Snap(rawValue: $0) } }
    /// What the user may not do.
    public var restrictions: [Restriction] { range.list("X-RESTRICT").compactMap { Restriction(rawValue: $0) } }
    /// Whether different viewers may get different content, so that they had better not watch it together.
    public var mayVary: Bool { range["X-CONTENT-MAY-VARY"] != "NO" }
    /// How a timeline shows it.
    public var timelineOccupation: TimelineOccupation {
        range["X-TIMELINE-OCCUPIES"].flatMap { TimelineOccupation(rawValue: $0) } ?? .point
    }
    /// Whether a timeline tells it from the primary content.
    public var timelineStyle: TimelineStyle {
        range["X-TIMELINE-STYLE"].flatMap { TimelineStyle(rawValue: $0) } ?? .highlight
    }
    /// When a button to skip it appears, counted from its beginning.
    public var skipControlOffset: MediaTime? { range.time("X-SKIP-CONTROL-OFFSET") }
    /// How long that button stays; `nil` for to the end.
    public var skipControlDuration: MediaTime? { range.nonNegativeTime("X-SKIP-CONTROL-DURATION") }
    /// What names the label of that button.
    public var skipControlLabelID: String? { range["X-SKIP-CONTROL-LABEL-ID"] }
}

/// What is to be loaded ahead for another date range, within the time of this one (RFC 8216bis appendix F).
public struct DateRangePreload: Sendable {
    /// The class that makes a date range one.
    public static let classIdentifier = "com.apple.hls.preload"

    /// What to load.
    public let address: ResourceAddress
    /// The ID of the date range that it is for, which need not be there yet.
    public let targetID: String
    /// The class of that date range.
    public let targetClass: String

    /// `nil` where it is none, or lacks what each has to have.
    init?(_ range: DateRange) {
        guard range.classIdentifier == Self.classIdentifier, let address = range.address("X-URI"),
            let targetID = range["X-TARGET-ID"], let targetClass = range["X-TARGET-CLASS"]
        else { return nil }
        self.address = address
        self.targetID = targetID
        self.targetClass = targetClass
    }
}

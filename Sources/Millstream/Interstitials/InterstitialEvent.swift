public import HLSPlaylist
public import MediaTiming
public import ResourceAddressing
import StreamingEngine

/// Media that a player plays while its item is suspended (`AVPlayerInterstitialEvent`).
///
/// Streams schedule interstitials with date ranges (RFC 8216bis appendix D); an application may schedule its own, see
/// ``InterstitialController/schedule(_:)``.
public struct InterstitialEvent: Sendable, Hashable, Identifiable {
    /// The media of an interstitial.
    public enum Content: Sendable, Hashable {
        /// The given assets, in order.
        case assets([Asset])
        /// The playlist at an address (X-ASSET-URI).
        case address(ResourceAddress)
        /// The assets of the list at an address, which is loaded when it is needed (X-ASSET-LIST).
        case list(ResourceAddress)
    }

    /// The trigger of an interstitial that is not played at its time or date (CUE).
    public enum Cue: String, Sendable, Hashable, CaseIterable {
        /// The interstitial is played at its time or date.
        case none
        /// The interstitial is played before the item begins (PRE).
        case joinPrimary
        /// The interstitial is played after the item has ended (POST).
        case leavePrimary
    }

    /// Actions that a viewer is not allowed to perform (X-RESTRICT).
    public struct Restrictions: OptionSet, Sendable, Hashable {
        /// The raw bits of the option set.
        public let rawValue: Int

        /// Creates a set from raw bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// A viewer must not seek from a position before the interstitial to one after it without playing it (JUMP).
        public static let constrainsSeekingForwardInPrimaryContent = Restrictions(rawValue: 1)
        /// A viewer must not seek forward in the interstitial, or play it faster than at normal rate (SKIP).
        public static let requiresPlaybackAtPreferredRateForAdvancement = Restrictions(rawValue: 4)
    }

    /// The length of an interstitial on a timeline (X-TIMELINE-OCCUPIES).
    public enum TimelineOccupancy: String, Sendable, Hashable, CaseIterable {
        /// The interstitial is a single point of the timeline.
        case singlePoint
        /// The interstitial takes its duration on the timeline.
        case fill
    }

    /// The control with which a viewer skips an interstitial (RFC 8216bis §D.3).
    public struct SkipControl: Sendable, Hashable {
        /// The amount of the interstitial that is played before the control appears.
        public var offset: MediaTime
        /// The duration for which the control is shown; `nil` for the rest of the interstitial.
        public var duration: MediaTime?
        /// The identifier of the label of the control; `nil` for the default label.
        public var labelID: String?

        /// Creates a skip control.
        public init(offset: MediaTime, duration: MediaTime? = nil, labelID: String? = nil) {
            self.offset = offset
            self.duration = duration
            self.labelID = labelID
        }
    }

    /// The identifier, which is unique among the interstitials of an item.
    public let id: String
    /// The start, on the timeline of the item; `nil` if it is given by ``date`` or ``cue``.
    public var time: MediaTime?
    /// The date of the start; `nil` if the start is given by ``time`` or ``cue``.
    public var date: ProgramDateTime?
    /// The media.
    public var content: Content
    /// The restrictions for viewers; empty by default.
    public var restrictions: Restrictions = []
    /// The distance from the start of the interstitial to the position at which the item resumes, which may be
    /// negative; `nil`, the default, for the amount of the interstitial that was played.
    public var resumptionOffset: MediaTime?
    /// The maximum amount of the interstitial that is played; `nil`, the default, for no limit.
    public var playoutLimit: MediaTime?
    /// The trigger of the interstitial, if it is not played at its time or date.
    public var cue = Cue.none
    /// A Boolean value that indicates whether the interstitial is played once only, even if its start is reached again
    /// (ONCE).
    public var willPlayOnce = false
    /// A Boolean value that indicates whether the item is suspended at the segment boundary nearest to the start
    /// (X-SNAP=OUT).
    public var alignsStartWithPrimarySegmentBoundary = false
    /// A Boolean value that indicates whether the item resumes at the segment boundary nearest to the resumption
    /// position (X-SNAP=IN).
    public var alignsResumptionWithPrimarySegmentBoundary = false
    /// The length of the interstitial on a timeline.
    public var timelineOccupancy = TimelineOccupancy.singlePoint
    /// A Boolean value that indicates whether a timeline shows the interstitial as part of the item, without
    /// distinction (X-TIMELINE-STYLE=PRIMARY).
    public var supplementsPrimaryContent = false
    /// A Boolean value that indicates whether the media may differ between viewers (X-CONTENT-MAY-VARY).
    public var contentMayVary = true
    /// The duration that the stream or the application declares; `nil` if it is unknown.
    public var plannedDuration: MediaTime?
    /// The control with which a viewer skips the interstitial; `nil`, the default, for none.
    public var skipControl: SkipControl?
    /// The attributes of the application: those whose names begin with `X-` and that RFC 8216bis does not define.
    public var userDefinedAttributes: [String: String] = [:]

    /// Creates an event that starts at a time.
    ///
    /// - Parameters:
    ///   - id: The identifier.
    ///   - time: The start, on the timeline of the item.
    ///   - content: The media.
    public init(id: String, at time: MediaTime, _ content: Content) {
        self.id = id
        self.time = time
        self.content = content
    }

    /// Creates an event that starts at a date.
    ///
    /// - Parameters:
    ///   - id: The identifier.
    ///   - date: The date of the start, for a stream with dates; the event is not played if the item has no media of
    ///     that date.
    ///   - content: The media.
    public init(id: String, at date: ProgramDateTime, _ content: Content) {
        self.id = id
        self.date = date
        self.content = content
    }

    /// Creates an event that is played before or after the item.
    ///
    /// - Parameters:
    ///   - id: The identifier.
    ///   - cue: The trigger.
    ///   - content: The media.
    public init(id: String, _ cue: Cue, _ content: Content) {
        self.id = id
        self.cue = cue
        self.content = content
    }
}

extension InterstitialEvent {
    /// Creates the event that a date range of a stream schedules; `nil` if it schedules none.
    init?(_ timed: TimedDateRange) {
        guard let interstitial = timed.range.interstitial else { return nil }
        // Exactly one of the two attributes is required (§D.2). If both are present, the one that needs no further
        // request is used.
        if let address = interstitial.assetAddress {
            content = .address(address)
        } else if let address = interstitial.assetListAddress {
            content = .list(address)
        } else {
            return nil
        }
        id = timed.id
        time = timed.start
        date = timed.startDate
        if interstitial.restrictions.contains(.jump) { restrictions.insert(.constrainsSeekingForwardInPrimaryContent) }
        if interstitial.restrictions.contains(.skip) {
            restrictions.insert(.requiresPlaybackAtPreferredRateForAdvancement)
        }
        resumptionOffset = interstitial.resumeOffset
        playoutLimit = interstitial.playoutLimit
        let cues = timed.range.cues
        // PRE and POST must not both be present (§4.4.5.1); if they are, PRE is used.
        cue = cues.contains(.pre) ? .joinPrimary : cues.contains(.post) ? .leavePrimary : .none
        willPlayOnce = cues.contains(.once)
        alignsStartWithPrimarySegmentBoundary = interstitial.snaps.contains(.out)
        alignsResumptionWithPrimarySegmentBoundary = interstitial.snaps.contains(.in)
        timelineOccupancy = interstitial.timelineOccupation == .range ? .fill : .singlePoint
        supplementsPrimaryContent = interstitial.timelineStyle == .primary
        contentMayVary = interstitial.mayVary
        let span = timed.range.endDate.map { $0.sinceEpoch - timed.startDate.sinceEpoch }
        plannedDuration = [timed.range.duration, span, timed.range.plannedDuration].compactMap { $0 }.first {
            $0 >= .zero
        }
        skipControl = interstitial.skipControlOffset.map {
            SkipControl(
                offset: $0,
                duration: interstitial.skipControlDuration,
                labelID: interstitial.skipControlLabelID
            )
        }
        userDefinedAttributes = timed.attributes.filter {
            $0.key.hasPrefix("X-") && !Self.knownAttributes.contains($0.key)
        }
    }

    private static let knownAttributes: Set<String> = [
        "X-ASSET-URI", "X-ASSET-LIST", "X-RESUME-OFFSET", "X-PLAYOUT-LIMIT", "X-SNAP", "X-RESTRICT",
        "X-CONTENT-MAY-VARY", "X-TIMELINE-OCCUPIES", "X-TIMELINE-STYLE", "X-SKIP-CONTROL-OFFSET",
        "X-SKIP-CONTROL-DURATION", "X-SKIP-CONTROL-LABEL-ID",
    ]

    /// The duration of the range of the item that the event replaces, as declared before it is played; zero if none is
    /// declared.
    var plannedReplacedDuration: MediaTime {
        if let resumptionOffset { return max(.zero, resumptionOffset) }
        guard let plannedDuration else { return playoutLimit ?? .zero }
        return playoutLimit.map { min($0, plannedDuration) } ?? plannedDuration
    }
}

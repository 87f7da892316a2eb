public import HLSPlaylist
public import MediaTiming
public import ResourceAddressing
import StreamingEngine

/// What is played in between, while the item of a player waits (`AVPlayerInterstitialEvent`).
///
/// Streams schedule them with date ranges (RFC 8216bis appendix D); an application may schedule its own, see
/// ``InterstitialController/events``.
public struct InterstitialEvent: Sendable, Hashable, Identifiable {
    /// What is played.
    public enum Content: Sendable, Hashable {
        /// These, one after the other.
        case assets([Asset])
        /// One playlist.
        case address(ResourceAddress)
        /// The playlists of a list, which is loaded when it is needed (X-ASSET-LIST).
        case list(ResourceAddress)
    }

    /// When it is played, where not by its place.
    public enum Cue: String, Sendable, Hashable, CaseIterable {
        /// At its place.
        case none
        /// Before the item begins.
        case joinPrimary
        /// When the item has ended.
        case leavePrimary
    }

    /// What a viewer may not do.
    public struct Restrictions: OptionSet, Sendable, Hashable {
        /// The bits.
        public let rawValue: Int

        /// Makes a set of its bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Seek over it from before its place without seeing it (JUMP).
        public static let constrainsSeekingForwardInPrimaryContent = Restrictions(rawValue: 1)
        /// Seek forward in it, or play it faster than at normal speed (SKIP).
        public static let requiresPlaybackAtPreferredRateForAdvancement = Restrictions(rawValue: 4)
    }

    /// How a timeline shows it.
    public enum TimelineOccupancy: String, Sendable, Hashable, CaseIterable {
        /// As one point.
        case singlePoint
        /// As long as it is.
        case fill
    }

    /// The button to skip it (RFC 8216bis §D.3).
    public struct SkipControl: Sendable, Hashable {
        /// How much of it is played before the button appears.
        public var offset: MediaTime
        /// How long the button stays; `nil` for to the end.
        public var duration: MediaTime?
        /// What names its label; `nil` for the usual one.
        public var labelID: String?

        /// Makes a button.
        public init(offset: MediaTime, duration: MediaTime? = nil, labelID: String? = nil) {
            self.offset = offset
            self.duration = duration
            self.labelID = labelID
        }
    }

    /// What names it; among those of one item each name stands once.
    public let id: String
    /// Where it is, on the timeline of the item; `nil` where ``date`` says it.
    public var time: MediaTime?
    /// The date where it is; `nil` where ``time`` says it.
    public var date: ProgramDateTime?
    /// What is played.
    public var content: Content
    /// What a viewer may not do; nothing is forbidden by default.
    public var restrictions: Restrictions = []
    /// How far behind its place the item goes on, or before it; `nil`, the default, for as much as was played of it.
    public var resumptionOffset: MediaTime?
    /// How much of it is played at most; `nil`, the default, for all.
    public var playoutLimit: MediaTime?
    /// When it is played, where not by its place.
    public var cue = Cue.none
    /// Whether it is played once, however often its place is passed.
    public var willPlayOnce = false
    /// Whether the item is left at the border of segments nearest to its place (X-SNAP=OUT).
    public var alignsStartWithPrimarySegmentBoundary = false
    /// Whether the item goes on at the border of segments nearest to where it would (X-SNAP=IN).
    public var alignsResumptionWithPrimarySegmentBoundary = false
    /// How a timeline shows it.
    public var timelineOccupancy = TimelineOccupancy.singlePoint
    /// Whether a timeline shows it as a part of the item, not told from it.
    public var supplementsPrimaryContent = false
    /// Whether other viewers may be given something else.
    public var contentMayVary = true
    /// How long it is said to be; `nil` where nobody does.
    public var plannedDuration: MediaTime?
    /// The button to skip it; `nil`, the default, for none.
    public var skipControl: SkipControl?
    /// Attributes whose names begin with `X-` and that mean something to the application alone.
    public var userDefinedAttributes: [String: String] = [:]

    /// Makes an event at a time.
    ///
    /// - Parameters:
    ///   - id: What names it.
    ///   - time: Where it is, on the timeline of the item.
    ///   - content: What is played.
    public init(id: String, at time: MediaTime, _ content: Content) {
        self.id = id
        self.time = time
        self.content = content
    }

    /// Makes an event at a date.
    ///
    /// - Parameters:
    ///   - id: What names it.
    ///   - date: The date where it is, of a stream with dates; it is not played where there is no media of that date.
    ///   - content: What is played.
    public init(id: String, at date: ProgramDateTime, _ content: Content) {
        self.id = id
        self.date = date
        self.content = content
    }

    /// Makes an event before the item begins, or behind its end.
    ///
    /// - Parameters:
    ///   - id: What names it.
    ///   - cue: Which of the two.
    ///   - content: What is played.
    public init(id: String, _ cue: Cue, _ content: Content) {
        self.id = id
        self.cue = cue
        self.content = content
    }
}

extension InterstitialEvent {
    /// The event that a date range of a stream schedules; `nil` where it schedules none.
    init?(_ timed: TimedDateRange) {
        guard let interstitial = timed.range.interstitial else { return nil }
        // One of both is required, and never both (§D.2); of both, what needs no other request is taken.
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
        playoutLimit = interstitial.playoutLimit.flatMap { $0 < .zero ? nil : $0 }
        let cues = timed.range.cues
        // Both at once is not allowed (§4.4.5.1); what comes first is.
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

    /// How much of the item it stands for, as far as that is known before it was played.
    var plannedCover: MediaTime {
        if let resumptionOffset { return max(.zero, resumptionOffset) }
        guard let plannedDuration else { return playoutLimit ?? .zero }
        return playoutLimit.map { min($0, plannedDuration) } ?? plannedDuration
    }
}

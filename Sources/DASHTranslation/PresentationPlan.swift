import DASHManifest
import MediaTiming
import ResourceAddressing

/// The segments of a track in a period.
struct TrackSection {
    /// The representation of the track, or `nil` if gaps stand for it.
    let candidate: TrackCandidate?
    /// The addresses of the segments, or of the segments that gaps replace.
    let addressing: SegmentAddressing
    /// The indices of the segments in the window.
    var range: Range<Int64>
}

/// A period with the segments of all tracks.
struct PeriodPlan {
    let tracks: PeriodTracks
    /// The start on the timeline of the presentation.
    let start: MediaTime
    /// The sections in the order of the tracks; `nil` for a track without segments.
    var sections: [TrackSection?]
    /// The Boolean values that indicate whether the period has a representation of each track.
    var matches: [Bool]
    /// A Boolean value that indicates whether the media continues that of the period before without a discontinuity.
    let isContinuous: Bool
    /// The discontinuity sequence number of the segments.
    var discontinuitySequence: Int64 = 0

    var period: Period { tracks.period }
    /// The identification of the period in successive manifests.
    var key: String { period.id.map { "id:\($0)" } ?? "start:\(start)" }
}

/// The tracks of a presentation and the segments that are available.
struct PresentationPlan {
    /// The tracks in the order of the playlists.
    var tracks: [TrackDescriptor]
    private(set) var periods: [PeriodPlan] = []
    /// The segment indexes that are missing.
    private(set) var missingIndexes: [AddressedResource] = []
    /// A Boolean value that indicates whether segments become available later.
    private(set) var isWaiting = false
    private let limits: TranslationLimits
    private let now: MediaTime
    private var segmentCount: Int64 = 0
    /// The number of bytes of the URLs that were resolved.
    private var resolvedByteCount: Int64 = 0
    private var comparisonCount = 0

    /// The maximum number of comparisons between tracks and representations.
    ///
    /// 5 million is a hundred times what 100 periods of a large ladder need.
    private static let maximumComparisonCount = 5_000_000
    /// The maximum number of segments of a live playlist; about a day of segments of 2 seconds.
    private static let maximumWindowLength: Int64 = 43_200

    /// Creates a plan with the tracks of the previous translation, or with new ones if there are none.
    ///
    /// - Throws: ``TranslationError``, or the error of `checkCancellation`, which is called before each period and track.
    init(
        _ presentation: MediaPresentation,
        tracks known: [TrackDescriptor],
        indexes: [AddressedResource: IndexedFile],
        now: MediaTime,
        limits: TranslationLimits,
        losses: inout TranslationLosses,
        checkCancellation: () throws -> Void = {}
    ) throws {
        self.limits = limits
        self.now = now
        tracks = known
        var candidates: [(tracks: PeriodTracks, start: MediaTime)] = []
        for period in presentation.periods {
            try checkCancellation()
            if let link = period.link {
                if link != "urn:mpeg:dash:resolve-to-zero:2013" {
                    losses.append(
                        .remoteElement,
                        "a period is a remote element, which is not loaded",
                        line: period.element.line
                    )
                }
                continue
            }
            guard let start = period.start else { continue }
            candidates.append((PeriodTracks(period, losses: &losses), start))
        }
        if tracks.isEmpty {
            tracks = TrackSelection.tracks(of: candidates.map(\.tracks), limits: limits, losses: &losses)
        }
        guard tracks.contains(where: { $0.kind == .video || $0.kind == .audio }) else {
            throw TranslationError.nothingToPlay(reason: losses.first?.message ?? "it has no video and no audio")
        }
        for (index, candidate) in candidates.enumerated() {
            let previous = index > 0 ? candidates[index - 1].tracks.period : nil
            try add(
                candidate.tracks,
                candidate.start,
                after: previous,
                presentation,
                indexes,
                losses: &losses,
                checkCancellation
            )
        }
        removeMixedFormats(losses: &losses)
        removeLaterPeriods(of: presentation)
        limitToWindow(of: presentation)
        // Later versions keep their tracks, also those that have no segments for a time.
        if known.isEmpty { removeTracksWithoutSegments() }
        try checkByteCount()
        fillGaps(of: presentation, losses: &losses)
    }

    // MARK: Periods

    private mutating func add(
        _ periodTracks: PeriodTracks,
        _ start: MediaTime,
        after previous: Period?,
        _ presentation: MediaPresentation,
        _ indexes: [AddressedResource: IndexedFile],
        losses: inout TranslationLosses,
        _ checkCancellation: () throws -> Void
    ) throws {
        comparisonCount +|= tracks.count *| max(1, periodTracks.candidates.count)
        guard comparisonCount <= Self.maximumComparisonCount else {
            throw TranslationError.tooLarge(message: "there are too many representations in too many periods")
        }
        let period = periodTracks.period
        var sections: [TrackSection?] = []
        var matches: [Bool] = []
        var isContinuous = previous?.id != nil
        for track in tracks {
            try checkCancellation()
            guard let match = TrackMatching.match(track, in: periodTracks) else {
                sections.append(nil)
                matches.append(false)
                continue
            }
            matches.append(true)
            if match.isApproximate {
                let name = "\(track.kind.rawValue) \(track.label ?? track.language ?? track.representationID)"
                losses.append(
                    .unmatchedTrack,
                    "the track \(name) continues with another one in a later period",
                    line: period.element.line
                )
            }
            isContinuous = isContinuous && Self.continues(match.candidate, previous)
            sections.append(
                try section(match.candidate, period, start, presentation, indexes, losses: &losses)
            )
        }
        periods.append(
            PeriodPlan(
                tracks: periodTracks,
                start: start,
                sections: sections,
                matches: matches,
                isContinuous: isContinuous
            )
        )
    }

    /// Returns a Boolean value that indicates whether a set continues one of the period before, which has the same
    /// identifier (§5.3.2.4).
    private static func continues(_ candidate: TrackCandidate, _ previous: Period?) -> Bool {
        guard let previous, let id = previous.id, candidate.continuedPeriods.contains(id) else { return false }
        let identifier = candidate.set.element[.id]
        return previous.adaptationSets.contains { $0.element[.id] == identifier }
    }

    private mutating func section(
        _ candidate: TrackCandidate,
        _ period: Period,
        _ start: MediaTime,
        _ presentation: MediaPresentation,
        _ indexes: [AddressedResource: IndexedFile],
        losses: inout TranslationLosses
    ) throws(TranslationError) -> TrackSection? {
        let line = candidate.representation.element.line
        segmentCount +|= SegmentAddressing.entryCount(of: candidate.representation, in: candidate.set, of: period)
        try checkSegmentCount()
        let size = SegmentAddressing.addressByteCount(
            of: candidate.representation,
            in: candidate.set,
            of: period,
            in: presentation
        )
        resolvedByteCount +|= size
        guard resolvedByteCount <= Int64(clamping: limits.byteCount) else {
            throw .tooLarge(message: "the base URLs of all representations are too long")
        }
        var addressing = SegmentAddressing(
            of: candidate.representation,
            in: candidate.set,
            of: period,
            in: presentation
        )
        if addressing.needsIndex, let resource = addressing.index {
            if let file = indexes[resource] {
                addressing.setIndex(file)
            } else {
                missingIndexes.append(resource)
                losses.append(.missingIndex, "the segment index is not known", line: line)
                return nil
            }
        }
        if let fault = addressing.fault {
            losses.append(.unaddressed, "a representation has no segments (\(fault.rawValue))", line: line)
            return nil
        }
        if addressing.initialization == nil, Self.needsInitialization(candidate, addressing) {
            losses.append(.missingInitialization, "a representation has no initialization segment", line: line)
            return nil
        }
        if addressing.baseAddresses.count > 1, presentation.contentSteering == nil {
            losses.append(.alternativeAddress, "only the preferred of several base URLs is used")
        }
        var upper = addressing.count
        if presentation.kind == .dynamic, addressing.isLimitedByClock {
            let origin = presentation.availabilityStartTime?.sinceEpoch ?? .zero
            // Segments that are available at any time have no limit if the period has no end.
            let isEarly =
                addressing.hasCompleteSegments
                && !(addressing.isUnbounded && addressing.availabilityTimeOffset >= ManifestDuration.maximum)
            let offset = isEarly ? addressing.availabilityTimeOffset : .zero
            upper = addressing.index(endingAfter: now - origin - start + offset)
        } else if addressing.isUnbounded {
            losses.append(.unaddressed, "the duration of a period is not known", line: period.element.line)
            return nil
        }
        var lower: Int64 = 0
        if presentation.kind == .dynamic { lower = max(0, upper -| Self.maximumWindowLength) }
        segmentCount +|= upper -| lower
        try checkSegmentCount()
        isWaiting = isWaiting || upper <= lower
        return upper > lower ? TrackSection(candidate: candidate, addressing: addressing, range: lower..<upper) : nil
    }

    /// Returns a Boolean value that indicates whether segments have no meaning without an initialization segment.
    private static func needsInitialization(_ candidate: TrackCandidate, _ addressing: SegmentAddressing) -> Bool {
        let type = candidate.representation.mimeType?.lowercased() ?? ""
        if type.hasSuffix("/mp4") || type.hasSuffix("/iso.segment") { return true }
        // Players decide by the extension, whatever the type says.
        return addressing.distinctResources.contains { resource in
            let path = resource.address.path.lowercased()
            return [".mp4", ".m4s", ".m4v", ".m4a", ".cmfv", ".cmfa", ".cmft"].contains(where: path.hasSuffix)
        }
    }

    private func checkSegmentCount() throws(TranslationError) {
        guard segmentCount <= limits.segmentCount else {
            throw .tooLarge(message: "there are more than \(limits.segmentCount) segments")
        }
    }

    /// Compares the length of the URLs that the playlists will contain with the limit, before they are written.
    private func checkByteCount() throws(TranslationError) {
        var sum: Int64 = 0
        for period in periods {
            for section in period.sections {
                guard let section, section.candidate != nil, let length = section.addressing.addressLength else {
                    continue
                }
                sum +|= length *| (section.range.upperBound -| section.range.lowerBound)
            }
        }
        guard sum <= Int64(clamping: limits.byteCount) else { throw .tooLarge(message: "the playlists are too large") }
    }

    // MARK: Window

    /// The maximum difference between the end of the segments of a period and the start of the next one, which continues
    /// it.
    private static let maximumPeriodDistance = MediaTime(seconds: 2)

    /// Removes the segments of later periods of a dynamic presentation that a manifest lists before they are available.
    ///
    /// A period that begins later than the listed segments before it is in the future. Where the segments before it show
    /// that the clock is right, it tells which segments are available.
    private mutating func removeLaterPeriods(of presentation: MediaPresentation) {
        guard presentation.kind == .dynamic else { return }
        let origin = presentation.availabilityStartTime?.sinceEpoch ?? .zero
        var edge: MediaTime?
        for index in periods.indices {
            let start = periods[index].start
            if let edge, edge + Self.maximumPeriodDistance < start, now < origin + start {
                periods[index].sections = periods[index].sections.map { _ in nil }
                continue
            }
            let difference = edge.map { now - origin - $0 } ?? .zero
            let isClockRight =
                edge != nil && difference < MediaTime(seconds: 60) && MediaTime(seconds: -10) < difference
            if isClockRight {
                let tolerance = Self.maximumPeriodDistance
                for track in periods[index].sections.indices {
                    guard let section = periods[index].sections[track] else { continue }
                    let available = section.addressing.index(endingAfter: now - origin - start + tolerance)
                    let upper = min(section.range.upperBound, available)
                    let isEmpty = upper <= section.range.lowerBound
                    periods[index].sections[track]?.range =
                        section.range.lowerBound..<max(section.range.lowerBound, upper)
                    if isEmpty { periods[index].sections[track] = nil }
                }
            }
            edge = ends(of: periods[index]).max() ?? edge
        }
    }

    /// Returns the ends of the last segments of a period on the timeline of the presentation.
    private func ends(of plan: PeriodPlan) -> [MediaTime] {
        plan.sections.compactMap { section in
            section.flatMap { $0.addressing.timing(at: $0.range.upperBound -| 1) }
                .map { plan.start + $0.start + $0.duration }
        }
    }

    /// Removes segments of a dynamic presentation that are no longer available.
    private mutating func limitToWindow(of presentation: MediaPresentation) {
        guard presentation.kind == .dynamic, let depth = presentation.timeShiftBufferDepth else { return }
        guard let edge = periods.flatMap({ ends(of: $0) }).max() else { return }
        let first = edge - depth
        for index in periods.indices {
            for track in periods[index].sections.indices {
                guard let section = periods[index].sections[track] else { continue }
                let lower = section.addressing.index(endingAfter: first - periods[index].start)
                let range = section.range
                let remaining = max(range.lowerBound, lower)..<max(range.lowerBound, lower, range.upperBound)
                periods[index].sections[track]?.range = remaining
                if remaining.isEmpty { periods[index].sections[track] = nil }
            }
        }
    }

    /// Puts gaps in the place of tracks without segments, and removes periods without any.
    ///
    /// In a dynamic presentation, a track whose segments are not available yet, or not anymore, has no gaps, because the
    /// segments would replace them.
    private mutating func fillGaps(of presentation: MediaPresentation, losses: inout TranslationLosses) {
        periods.removeAll { plan in
            let isEmpty = plan.sections.allSatisfy { $0 == nil }
            if isEmpty, plan.tracks.candidates.isEmpty {
                losses.append(.emptyPeriod, "a period has nothing that can be played", line: plan.period.element.line)
            }
            return isEmpty
        }
        for index in periods.indices {
            guard let model = periods[index].sections.lazy.compactMap({ $0 }).first else { continue }
            for track in periods[index].sections.indices where periods[index].sections[track] == nil {
                guard presentation.kind == .static || !periods[index].matches[track] else { continue }
                periods[index].sections[track] = TrackSection(
                    candidate: nil,
                    addressing: model.addressing,
                    range: model.range
                )
                let name = "\(tracks[track].kind.rawValue) \(tracks[track].representationID)"
                losses.append(
                    .unmatchedTrack,
                    "the track \(name) has gaps in a period",
                    line: periods[index].period.element.line
                )
            }
        }
    }

    /// Removes segments without an initialization section behind others that have one, which a playlist cannot end
    /// (RFC 8216bis §4.4.4.5).
    private mutating func removeMixedFormats(losses: inout TranslationLosses) {
        for track in tracks.indices {
            var hasMap = false
            for index in periods.indices {
                guard let section = periods[index].sections[track] else { continue }
                if section.addressing.initialization != nil {
                    hasMap = true
                } else if hasMap {
                    periods[index].sections[track] = nil
                    periods[index].matches[track] = false
                    let message = "the format of the track \(tracks[track].representationID) changes in a later period"
                    losses.append(.unmatchedTrack, message, line: periods[index].period.element.line)
                }
            }
        }
    }

    /// Removes the tracks that have no segments of their own in any period.
    private mutating func removeTracksWithoutSegments() {
        let kept = tracks.indices.filter { index in periods.contains { $0.sections[index]?.candidate != nil } }
        guard kept.count < tracks.count else { return }
        tracks = kept.map { tracks[$0] }
        for index in periods.indices {
            periods[index].sections = kept.map { periods[index].sections[$0] }
            periods[index].matches = kept.map { periods[index].matches[$0] }
        }
    }

    /// Replaces the sections of a period.
    mutating func setSections(_ sections: [TrackSection?], ofPeriod index: Int) { periods[index].sections = sections }

    /// Sets the discontinuity sequence numbers of the periods.
    ///
    /// - Parameters:
    ///   - known: The numbers of the periods in the previous translation, by their keys.
    ///   - restartTime: The time of the first segment if a discontinuity before it announces a restart.
    mutating func setDiscontinuitySequences(_ known: [String: Int64], restartTime: MediaTime? = nil) {
        var previous: Int64?
        // A presentation has fewer discontinuities than seconds, so the number is higher than before the restart.
        let initial = restartTime.map { max(0, $0.roundedSeconds) +| 1 }
        for index in periods.indices {
            let plan = periods[index]
            let next = previous.map { plan.isContinuous ? $0 : $0 +| 1 }
            // Numbers never go back, also where the manifest is loaded for the first time in the middle of the stream.
            let number =
                known[plan.key] ?? next ?? (known.values.max().map { $0 +| 1 }) ?? initial
                ?? max(0, plan.start.roundedSeconds)
            periods[index].discontinuitySequence = max(number, next ?? number)
            previous = periods[index].discontinuitySequence
        }
    }
}

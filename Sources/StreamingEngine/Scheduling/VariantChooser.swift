import Adaptation
import HLSPlaylist
import MediaTiming
import MediaTransport
import NIOCore
import PlaybackReporting

/// A selector of variants, which builds a ladder of the variants that can be switched between, and lets an adaptation
/// algorithm select among its rungs.
struct VariantChooser: Sendable {
    /// The state of playback before a segment is requested.
    struct Context {
        let current: Presentation.Variant
        /// A Boolean value that indicates whether this is the first segment.
        let isFirst: Bool
        let bufferLevel: Duration
        let capacity: Duration
        let segment: SegmentReference
        let timeline: PresentationTimeline
        let rate: Double
        let now: Duration
    }

    /// A variant, and the reason for which it was selected.
    struct Choice: Sendable {
        let variant: Presentation.Variant
        let cause: String
        let delay: Duration?
        let predictedBufferLevel: Duration?
    }

    var options: StreamingOptions {
        didSet {
            if options.variantSelection != oldValue.variantSelection {
                // The new selector begins with what has been measured so far.
                selector = options.variantSelection.makeSelector(
                    initialEstimate: throughput ?? options.initialThroughput
                )
            }
            if options.variantPreferences != oldValue.variantPreferences { select(selection) }
        }
    }
    /// The cost of the network that media is loaded over; `nil` if it is unknown.
    var networkCost: NetworkCost?
    /// The variants on the pathway that content steering chose; `nil` if it has not chosen one.
    var pathwayVariants: Set<Presentation.Variant.ID>? { didSet { select(selection) } }
    private var presentation: Presentation?
    private var selection = MediaSelection()
    /// The variants to select from, to which ``LadderRung/variantIndex`` refers.
    private var variants: [Presentation.Variant] = []
    private var ladder: Ladder?
    private var selector: AnyVariantSelector
    private var estimator: ThroughputEstimator
    private var isStarting = true

    /// The bit rate of a variant for which the playlist declares none.
    private static let assumedBitRate = BitRate(bitsPerSecond: 1_000_000)
    /// The maximum delay of a request, one hour, which is also that of the built-in selectors.
    private static let maximumDelay = Duration.seconds(3_600)
    /// The number of segments ahead whose sizes are passed to the algorithm.
    private static let sizeLookaheadCount = 8

    init(_ options: StreamingOptions) {
        self.options = options
        selector = options.variantSelection.makeSelector(initialEstimate: options.initialThroughput)
        estimator = ThroughputEstimator(
            initial: options.initialThroughput,
            options: options.variantSelection.estimatorOptions
        )
        throughput = estimator.estimate
    }

    /// The estimated throughput of the network; `nil` while it is unknown.
    private(set) var throughput: BitRate?
    /// The limit to variants that the device decodes without dropping many frames.
    private var droppedFrames: DroppedFramesCap?

    /// Sets the presentation, and the options that are selected.
    mutating func setPresentation(_ presentation: Presentation, selection: MediaSelection) {
        self.presentation = presentation
        select(selection)
    }

    /// Sets the options that are selected, and builds the ladder of the variants that have them.
    mutating func select(_ selection: MediaSelection) {
        self.selection = selection
        guard let presentation else { return }
        let former = ladder
        let preferences = options.variantPreferences
        variants = VariantFamily.variants(of: presentation, for: selection, preferences, on: pathwayVariants)
        ladder = Ladder(
            variants.prefix(Ladder.maximumRungCount).enumerated().map { index, variant in
                let peak = variant.peakBitRate ?? variant.averageBitRate ?? Self.assumedBitRate
                return LadderRung(
                    variantIndex: index,
                    peakBitRate: peak,
                    averageBitRate: variant.averageBitRate,
                    width: variant.resolution?.width,
                    height: variant.resolution?.height,
                    frameRate: variant.frameRate?.seconds,
                    score: presentation.isScored ? variant.score : nil
                )
            }
        )
        if ladder != former { droppedFrames = ladder.map { DroppedFramesCap(ladder: $0) } }
    }

    /// Returns whether a variant is one of those to select from.
    func contains(_ variant: Presentation.Variant) -> Bool { variants.contains { $0.id == variant.id } }

    /// Returns the variant of the first segment; `nil` if there is no variant.
    func first(bufferCapacity: Duration) -> Presentation.Variant? {
        if let pinned { return pinned }
        guard let ladder else { return variants.first }
        if options.startsOnFirstEligibleVariant {
            let restriction = restriction(of: ladder)
            return variants.indices.first { index in
                ladder.index(ofVariant: index).map { restriction.isAllowed($0) } ?? false
            }.map { variants[$0] }
        }
        var asked = selector
        // Video is preferred at the start: it is not yet known whether the network is too slow for it.
        let hasVideo = restriction(of: ladder).allowedRungs.contains { isVideo($0, ladder) }
        let restriction = restriction(of: ladder) { !hasVideo || isVideo($0, ladder) }
        let context = SelectionContext(
            ladder: ladder,
            restriction: restriction,
            bufferCapacity: bufferCapacity,
            segmentDuration: .seconds(6),
            isStarting: true
        )
        return choice(asked.decide(context), ladder, restriction).variant
    }

    /// Selects the variant of the next segment.
    mutating func choose(_ moment: Context, isAllowed: (Presentation.Variant) -> Bool) -> Choice {
        let stay = Choice(variant: moment.current, cause: "stay", delay: nil, predictedBufferLevel: nil)
        // The only variant of a pathway may not be the current one.
        guard let ladder, variants.count > 1 || pathwayVariants != nil && !contains(moment.current) else { return stay }
        if let pinned, isAllowed(pinned) {
            return Choice(variant: pinned, cause: "pinned", delay: nil, predictedBufferLevel: nil)
        }
        let current = index(of: moment.current)
        // If no variant of the ladder is available, the current one, which is not on the ladder, is kept.
        if current == nil, !variants.contains(where: isAllowed) { return stay }
        // The variant of the first segment was already selected by `first(bufferCapacity:)`.
        if moment.isFirst, current != nil { return stay }
        droppedFrames?.advance(to: moment.now)
        let restriction = restriction(of: ladder) { isAllowed(variants[ladder.rungs[$0].variantIndex]) }
        let context = SelectionContext(
            ladder: ladder,
            restriction: restriction,
            previousRung: current,
            bufferLevel: moment.bufferLevel,
            bufferCapacity: moment.capacity,
            segmentDuration: moment.segment.duration.duration,
            upcomingSizes: sizes(from: moment.segment, in: moment.timeline, of: current, ladder),
            remainingSegments: remaining(from: moment.segment, in: moment.timeline),
            playbackRate: moment.rate,
            isStarting: isStarting,
            now: moment.now
        )
        return choice(selector.decide(context), ladder, restriction)
    }

    /// The variant that the application pinned; `nil` if there is none among those to select from.
    var pinned: Presentation.Variant? {
        options.pinnedVariant.flatMap { id in variants.first { $0.id.text == id } }
    }

    /// Returns whether a variant with a lower bit rate could be fetched instead.
    func hasLowerVariant(than variant: Presentation.Variant?) -> Bool {
        guard pinned == nil, let variant, let index = index(of: variant) else { return false }
        return index > 0
    }

    /// Decides whether a transfer that is in progress is abandoned.
    ///
    /// - Returns: The variant to fetch instead; `nil` to continue the transfer.
    mutating func review(
        _ measurement: TransferMeasurement,
        _ progress: TransferProgress,
        of job: FetchJob,
        variant: Presentation.Variant,
        bufferLevel: Duration,
        isStarting: Bool,
        capacity: Duration,
        now: Duration
    ) -> Choice? {
        guard let ladder, let rung = index(of: variant), rung > 0 else { return nil }
        let context = SelectionContext(
            ladder: ladder,
            restriction: restriction(of: ladder),
            previousRung: rung,
            bufferLevel: bufferLevel,
            bufferCapacity: capacity,
            segmentDuration: job.segment.duration.duration,
            isStarting: isStarting,
            now: now
        )
        let transfer = TransferInFlight(
            rung: rung,
            bytesReceived: measurement.bytes,
            expectedSize: progress.expectedBytes.map { ByteCount($0) },
            request: job.began,
            firstByte: measurement.timeToFirstByte.map { measurement.requestStart + $0 },
            now: now
        )
        guard case .abandon(let decision) = selector.review(transfer, in: context),
            self.rung(of: decision, ladder, context.restriction) < rung
        else { return nil }
        return choice(decision, ladder, context.restriction)
    }

    /// Adds the measurement of a loaded segment.
    ///
    /// `id` is `nil` for segments of renditions.
    mutating func add(_ fetched: FetchedResource, of segment: SegmentReference, variant id: Presentation.Variant.ID?) {
        let measurement = fetched.measurement
        let firstByte = measurement.timeToFirstByte.map { measurement.requestStart + $0 } ?? fetched.endTime
        add(
            bytes: measurement.bytes == .zero ? ByteCount(Int64(fetched.bytes.readableBytes)) : measurement.bytes,
            duration: segment.duration.duration,
            times: (fetched.startTime, min(max(firstByte, fetched.startTime), fetched.endTime), fetched.endTime),
            isCached: measurement.isFromCache,
            isAbandoned: false,
            id
        )
        if id != nil { isStarting = false }
    }

    /// Adds the measurement of an abandoned transfer.
    mutating func add(abandoned job: FetchJob, _ measurement: TransferMeasurement, now: Duration) {
        let firstByte = measurement.timeToFirstByte.map { measurement.requestStart + $0 } ?? now
        add(
            bytes: measurement.bytes,
            duration: job.segment.duration.duration,
            times: (job.began, min(max(firstByte, job.began), now), now),
            isCached: measurement.isFromCache,
            isAbandoned: true,
            job.source.variantID
        )
    }

    private mutating func add(
        bytes: ByteCount,
        duration: Duration,
        times: (request: Duration, firstByte: Duration, end: Duration),
        isCached: Bool,
        isAbandoned: Bool,
        _ id: Presentation.Variant.ID?
    ) {
        let rung = id.flatMap { id in variants.firstIndex { $0.id == id } }
            .flatMap { ladder?.index(ofVariant: $0) }
        let measurement = SegmentMeasurement(
            rung: rung ?? 0,
            bytes: bytes,
            duration: duration,
            request: times.request,
            firstByte: times.firstByte,
            end: times.end,
            isCached: isCached,
            isAbandoned: isAbandoned
        )
        estimator.add(measurement.throughputSample)
        throughput = estimator.estimate
        // Transfers of audio renditions measure the network, but say nothing about a rung of the ladder.
        if rung != nil { selector.add(measurement) }
    }

    /// Adds the number of frames of a variant that were shown and dropped.
    mutating func add(_ frames: FrameCounts, of variant: VariantDescription, now: Duration) {
        guard let position = variants.firstIndex(where: { $0.id.text == variant.id }),
            let rung = ladder?.index(ofVariant: position)
        else { return }
        droppedFrames?.add(rung: rung, displayed: frames.decoded - frames.dropped, dropped: frames.dropped, now: now)
    }

    /// Resets the adaptation algorithm to its startup phase after a seek.
    mutating func resetAfterSeek() {
        selector.resetAfterSeek()
        isStarting = true
    }

    /// Returns the bit rate that playback of a variant needs at a rate; the rate is limited to 32.
    func neededBitRate(of variant: Presentation.Variant?, rate: Double) -> BitRate {
        let typical = variant?.typicalBitRate ?? Self.assumedBitRate
        let factor = rate == 0 ? 1 : min(abs(rate), 32)
        return BitRate(bitsPerSecond: Int64(saturating: Double(min(typical.bitsPerSecond, 1 << 50)) * factor))
    }

    /// Returns the measurements that are reported with a switch.
    func evidence(bufferLevel: Duration) -> VariantSwitch.Evidence {
        VariantSwitch.Evidence(throughput: throughput, bufferLevel: bufferLevel)
    }

    /// Returns the other variants: first the lower ones, from the nearest to the lowest, then the higher ones.
    func alternatives(to variant: Presentation.Variant?) -> [Presentation.Variant] {
        guard let ladder, let variant, let index = index(of: variant) else { return variants }
        let order = (0..<index).reversed() + ((index + 1)..<max(index + 1, ladder.count))
        return order.map { variants[ladder.rungs[$0].variantIndex] }
    }

    /// Returns the variant whose bit rate is nearest to that of a variant that can no longer be selected.
    func nearest(to variant: Presentation.Variant) -> Presentation.Variant? {
        let rate = variant.typicalBitRate?.bitsPerSecond ?? 0
        return variants.min { first, second in
            abs((first.typicalBitRate?.bitsPerSecond ?? 0) -| rate)
                < abs((second.typicalBitRate?.bitsPerSecond ?? 0) -| rate)
        }
    }

    private func isVideo(_ rung: Int, _ ladder: Ladder) -> Bool {
        !variants[ladder.rungs[rung].variantIndex].isAudioOnly
    }

    private func index(of variant: Presentation.Variant) -> Int? {
        variants.firstIndex { $0.id == variant.id }.flatMap { ladder?.index(ofVariant: $0) }
    }

    /// Returns the allowed rung that is nearest to that of a decision, since a selector of the application can return
    /// any number.
    private func rung(of decision: SwitchDecision, _ ladder: Ladder, _ restriction: LadderRestriction) -> Int {
        restriction.nearestAllowed(atOrBelow: ladder.clamped(decision.rung))
    }

    /// Returns the variant of a decision, with a limited delay.
    private func choice(_ decision: SwitchDecision, _ ladder: Ladder, _ restriction: LadderRestriction) -> Choice {
        Choice(
            variant: variants[ladder.rungs[rung(of: decision, ladder, restriction)].variantIndex],
            cause: decision.cause.rawValue,
            delay: decision.delay.map { min(max(.zero, $0), Self.maximumDelay) },
            predictedBufferLevel: decision.evidence.predictedBufferLevel
        )
    }

    private func remaining(from segment: SegmentReference, in timeline: PresentationTimeline) -> Int? {
        guard !timeline.isLive, let position = timeline.position(sequence: segment.sequence) else { return nil }
        return timeline.segments.count - position
    }

    /// Returns the sizes of the next segments by segment and rung, if the playlist declares them; zero is an unknown
    /// size.
    func sizes(
        from segment: SegmentReference,
        in timeline: PresentationTimeline,
        of rung: Int?,
        _ ladder: Ladder
    ) -> [[ByteCount]] {
        guard let rung, segment.byteRange != nil || segment.bitRate != nil,
            let position = timeline.position(sequence: segment.sequence)
        else { return [] }
        let segments = timeline.segments
        return (position..<min(position + Self.sizeLookaheadCount, segments.count)).map { index in
            let segment = segments[index]
            let known =
                segment.byteRange.map { ByteCount($0.length) }
                ?? segment.bitRate.map { rate in
                    ByteCount(
                        Int64(saturating: Double(min(rate.bitsPerSecond, 1 << 50)) * segment.duration.seconds / 8)
                    )
                }
            var sizes = [ByteCount](repeating: .zero, count: ladder.count)
            if let known { sizes[rung] = known }
            return sizes
        }
    }
}

extension VariantChooser {
    /// Returns the rungs that can be selected, given the preferences of the application, the size of the view and the
    /// speed of the device.
    ///
    /// - Parameters:
    ///   - ladder: The ladder.
    ///   - isAllowed: Returns whether a rung is allowed apart from these rules.
    /// - Returns: The restriction.
    private func restriction(of ladder: Ladder, where isAllowed: (Int) -> Bool = { _ in true }) -> LadderRestriction {
        var caps: [any LadderCap] = []
        func prefer(_ peakBitRate: BitRate?, _ size: Resolution?) {
            guard peakBitRate != nil || size != nil else { return }
            caps.append(PreferenceCap(peakBitRate: peakBitRate, width: size?.width, height: size?.height))
        }
        prefer(options.preferredPeakBitRate, options.preferredMaximumResolution)
        if networkCost?.contains(.expensive) == true {
            prefer(
                options.preferredPeakBitRateForExpensiveNetworks,
                options.preferredMaximumResolutionForExpensiveNetworks
            )
        }
        if let size = options.viewSize { caps.append(ViewSizeCap(width: size.width, height: size.height)) }
        if let droppedFrames { caps.append(droppedFrames) }
        var restriction = LadderRestriction(ladder, caps: caps)
        restriction.exclude(because: .failed) { !isAllowed($0) }
        // The last rule, since only rungs that can be selected make others of a lower score superfluous.
        ScoreCap().restrict(&restriction, of: ladder)
        return restriction
    }
}

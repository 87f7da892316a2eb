import Adaptation
import HLSPlaylist
import MediaTiming
import MediaTransport
import NIOCore
import PlaybackReporting
import ResourceAddressing
import Synchronization
import Testing

@testable import StreamingEngine

/// The calls of a selector, and its answers.
private final class SelectionRecord: Sendable {
    struct State: Sendable {
        var decision = SwitchDecision(rung: 0, cause: .stay, evidence: .init(bufferLevel: .zero))
        var review = TransferDecision.wait
        var contexts: [SelectionContext] = []
        var transfers: [TransferInFlight] = []
        var measurements: [SegmentMeasurement] = []
        var initialEstimates: [BitRate?] = []
        var seekCount = 0
    }

    private let mutex = Mutex(State())

    var state: State { mutex.withLock { $0 } }

    func change(_ change: (inout State) -> Void) { mutex.withLock { change(&$0) } }

    /// A selection whose selectors record their calls here.
    var selection: VariantSelection {
        VariantSelection { estimate in
            self.change { $0.initialEstimates.append(estimate) }
            return RecordingSelector(record: self)
        }
    }
}

/// A selector that records its calls and returns the answers of a record.
private struct RecordingSelector: VariantSelector {
    let record: SelectionRecord

    func add(_ measurement: SegmentMeasurement) { record.change { $0.measurements.append(measurement) } }

    func decide(_ context: SelectionContext) -> SwitchDecision {
        record.change { $0.contexts.append(context) }
        return record.state.decision
    }

    func review(_ transfer: TransferInFlight, in context: SelectionContext) -> TransferDecision {
        record.change {
            $0.transfers.append(transfer)
            $0.contexts.append(context)
        }
        return record.state.review
    }

    func resetAfterSeek() { record.change { $0.seekCount += 1 } }
}

/// Tests of what a selector is told, and of the limits of its decisions.
@Suite struct VariantChooserFaultTests {
    private static func variant(_ name: String, _ attributes: String) -> String {
        "#EXT-X-STREAM-INF:\(attributes)\n\(name).m3u8\n"
    }

    /// Variants of 2, 1 and 3 Mbit/s, in this order.
    private static let three =
        variant("b", "BANDWIDTH=2000000") + variant("a", "BANDWIDTH=1000000") + variant("c", "BANDWIDTH=3000000")

    private static func presentation(_ lines: String) throws -> Presentation {
        Presentation(try multivariant("#EXTM3U\n" + lines))
    }

    private static func name(_ variant: Presentation.Variant?) -> String? {
        variant.map { String($0.address.lastPathComponent.dropLast(5)) }
    }

    private let record = SelectionRecord()

    private func chooser(
        _ lines: String = three,
        _ change: (inout StreamingOptions) -> Void = { _ in }
    ) throws -> VariantChooser {
        var options = StreamingOptions()
        options.variantSelection = record.selection
        change(&options)
        var chooser = VariantChooser(options)
        chooser.setPresentation(try Self.presentation(lines), selection: MediaSelection())
        return chooser
    }

    private func decide(rung: Int, delay: Duration? = nil, predicted: Duration? = nil) {
        let evidence = SwitchDecision.Evidence(bufferLevel: .zero, predictedBufferLevel: predicted)
        record.change {
            $0.decision = SwitchDecision(rung: rung, cause: .bufferHigh, evidence: evidence, delay: delay)
        }
    }

    private static func timeline(isLive: Bool = false) throws -> PresentationTimeline {
        let segments = (0..<4).map { "#EXTINF:\($0 + 4),\n\($0).ts\n" }.joined()
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:8\n#EXT-X-BITRATE:800\n" + segments
        return PresentationTimeline(try media(text + (isLive ? "" : "#EXT-X-ENDLIST\n")))
    }

    private static func context(
        _ current: Presentation.Variant,
        isFirst: Bool = false,
        isLive: Bool = false
    ) throws -> VariantChooser.Context {
        let timeline = try timeline(isLive: isLive)
        return VariantChooser.Context(
            current: current,
            isFirst: isFirst,
            bufferLevel: .seconds(11),
            capacity: .seconds(33),
            segment: timeline.segments[1],
            timeline: timeline,
            rate: 1.5,
            now: .seconds(77)
        )
    }

    // MARK: Decisions

    @Test func selectorIsToldTheStateOfPlayback() throws {
        var chooser = try chooser()
        decide(rung: 2, delay: .seconds(5), predicted: .seconds(9))
        let variants = try Self.presentation(Self.three).variants
        let choice = chooser.choose(try Self.context(variants[0])) { _ in true }
        #expect(Self.name(choice.variant) == "c" && choice.cause == "bufferRich" && choice.delay == .seconds(5))
        #expect(choice.predictedBufferLevel == .seconds(9))
        let context = try #require(record.state.contexts.last)
        #expect(context.previousRung == 1 && context.bufferLevel == .seconds(11) && context.isStarting)
        #expect(context.bufferCapacity == .seconds(33) && context.segmentDuration == .seconds(5))
        #expect(context.remainingSegments == 3 && context.playbackRate == 1.5 && context.now == .seconds(77))
        let sizes: [[Int64]] = [[0, 500_000, 0], [0, 600_000, 0], [0, 700_000, 0]]
        #expect(context.upcomingSizes.map { $0.map(\.bytes) } == sizes)
        #expect(
            context.restriction.allowedRungs == [0, 1, 2] && context.ladder.rungs.map(\.variantIndex) == [1, 0, 2]
        )
        _ = chooser.choose(try Self.context(variants[1], isLive: true)) { _ in true }
        #expect(record.state.contexts.last?.remainingSegments == nil && record.state.contexts.last?.previousRung == 0)
    }

    @Test(arguments: [(99, "c"), (2, "c"), (1, "b"), (0, "a"), (-5, "a")])
    func anyRungIsLimitedToTheLadder(rung: Int, name: String) throws {
        var chooser = try chooser()
        decide(rung: rung)
        let variants = try Self.presentation(Self.three).variants
        let choice = chooser.choose(try Self.context(variants[0])) { _ in true }
        #expect(Self.name(choice.variant) == name && choice.delay == nil && choice.predictedBufferLevel == nil)
    }

    @Test func variantThatIsNotAllowedIsNotChosen() throws {
        var chooser = try chooser()
        decide(rung: 2)
        let variants = try Self.presentation(Self.three).variants
        let choice = chooser.choose(try Self.context(variants[0])) { Self.name($0) != "c" }
        #expect(Self.name(choice.variant) == "b" && record.state.contexts.last?.restriction.allowedRungs == [0, 1])
    }

    @Test(
        arguments: [(3_599, 3_599), (3_600, 3_600), (3_601, 3_600), (0, 0), (-1, 0)]
    )
    func delayOfARequestIsAnHourAtMost(delay: Int, expected: Int) throws {
        var chooser = try chooser()
        decide(rung: 0, delay: .seconds(delay))
        let variants = try Self.presentation(Self.three).variants
        let choice = chooser.choose(try Self.context(variants[0])) { _ in true }
        #expect(choice.delay == .seconds(expected))
    }

    @Test func pinnedVariantIsChosenIfItIsAllowed() throws {
        let variants = try Self.presentation(Self.three).variants
        var chooser = try chooser { $0.pinnedVariant = variants[2].id.text }
        let pinned = chooser.choose(try Self.context(variants[0])) { _ in true }
        #expect(Self.name(pinned.variant) == "c" && pinned.cause == "pinned" && record.state.contexts.isEmpty)
        let other = chooser.choose(try Self.context(variants[0])) { $0.id != variants[2].id }
        #expect(Self.name(other.variant) == "a" && record.state.contexts.count == 1)
        #expect(Self.name(chooser.first(bufferCapacity: .seconds(1))) == "c")
    }

    @Test func variantOfTheFirstSegmentIsNotChosenAgain() throws {
        var chooser = try chooser()
        let variants = try Self.presentation(Self.three).variants
        let stay = chooser.choose(try Self.context(variants[2], isFirst: true)) { _ in true }
        #expect(Self.name(stay.variant) == "c" && stay.cause == "stay" && record.state.contexts.isEmpty)
        #expect(stay.delay == nil && stay.predictedBufferLevel == nil)
        let other = try #require(try Self.presentation(Self.variant("x", "BANDWIDTH=5")).variants.first)
        let chosen = chooser.choose(try Self.context(other, isFirst: true)) { _ in true }
        #expect(Self.name(chosen.variant) == "a" && record.state.contexts.last?.previousRung == nil)
        let unavailable = chooser.choose(try Self.context(other)) { _ in false }
        #expect(Self.name(unavailable.variant) == "x" && record.state.contexts.count == 1)
        // A variant of the ladder is replaced even if none is allowed.
        _ = chooser.choose(try Self.context(variants[2])) { _ in false }
        #expect(record.state.contexts.count == 2)
    }

    @Test func onlyVariantIsKeptUnlessThePathwayLacksIt() throws {
        let lines =
            Self.variant("a", "BANDWIDTH=1,PATHWAY-ID=\"one\"") + Self.variant("b", "BANDWIDTH=2,PATHWAY-ID=\"two\"")
        let variants = try Self.presentation(lines).variants
        var alone = try self.chooser(Self.variant("a", "BANDWIDTH=1"))
        let stay = alone.choose(try Self.context(variants[1])) { _ in true }
        #expect(Self.name(stay.variant) == "b" && record.state.contexts.isEmpty)
        var chooser = try chooser(lines)
        chooser.pathwayVariants = [variants[0].id]
        #expect(chooser.contains(variants[0]) && !chooser.contains(variants[1]))
        _ = chooser.choose(try Self.context(variants[0])) { _ in true }
        #expect(record.state.contexts.isEmpty)
        let moved = chooser.choose(try Self.context(variants[1])) { _ in true }
        #expect(Self.name(moved.variant) == "a" && record.state.contexts.count == 1)
    }

    @Test func selectorOfTheFirstVariantIsNotChanged() throws {
        let chooser = try chooser { $0.initialThroughput = BitRate(bitsPerSecond: 9) }
        decide(rung: 1)
        #expect(Self.name(chooser.first(bufferCapacity: .seconds(22))) == "b")
        let context = try #require(record.state.contexts.last)
        #expect(context.isStarting && context.bufferCapacity == .seconds(22) && context.segmentDuration == .seconds(6))
        #expect(context.previousRung == nil && record.state.initialEstimates == [BitRate(bitsPerSecond: 9)])
        #expect(chooser.throughput == BitRate(bitsPerSecond: 9))
        let evidence = chooser.evidence(bufferLevel: .seconds(4))
        #expect(evidence.throughput == BitRate(bitsPerSecond: 9) && evidence.bufferLevel == .seconds(4))
    }

    @Test func rungsHaveTheAttributesOfTheirVariants() throws {
        let lines =
            Self.variant("a", "BANDWIDTH=3,AVERAGE-BANDWIDTH=2,RESOLUTION=640x360,FRAME-RATE=25,SCORE=1")
            + Self.variant("b", "AVERAGE-BANDWIDTH=5,SCORE=2") + Self.variant("c", "NAME=\"c\",SCORE=3")
        _ = try chooser(lines).first(bufferCapacity: .seconds(1))
        let rungs = try #require(record.state.contexts.last?.ladder.rungs)
        #expect(rungs.map(\.peakBitRate.bitsPerSecond) == [3, 5, 1_000_000])
        #expect(rungs.map(\.averageBitRate?.bitsPerSecond) == [2, 5, nil])
        #expect(rungs[0].width == 640 && rungs[0].height == 360 && rungs[0].frameRate == 25)
        #expect(rungs[1].width == nil && rungs[1].height == nil && rungs.map(\.score) == [1, 2, 3])
        _ = try chooser(lines.replacing(",SCORE=3", with: "")).first(bufferCapacity: .seconds(1))
        #expect(record.state.contexts.last?.ladder.rungs.map(\.score) == [nil, nil, nil])
    }

    @Test func presentationWithoutVariantsHasNoFirstVariant() {
        #expect(VariantChooser(StreamingOptions()).first(bufferCapacity: .seconds(1)) == nil)
        #expect(VariantChooser(StreamingOptions()).alternatives(to: nil).isEmpty)
    }

    // MARK: Options

    @Test func newSelectorBeginsWithTheThroughput() throws {
        var chooser = try chooser { $0.initialThroughput = BitRate(bitsPerSecond: 9) }
        chooser.options.pinnedVariant = "x"
        #expect(record.state.initialEstimates.count == 1)
        let other = SelectionRecord()
        chooser.options.variantSelection = other.selection
        #expect(other.state.initialEstimates == [BitRate(bitsPerSecond: 9)])
        #expect(record.state.initialEstimates.count == 1)
    }

    @Test func ladderFollowsThePreferences() throws {
        let lossless = Self.variant("lossless", "BANDWIDTH=2,CODECS=\"avc1.4d,fLaC\"")
        let lossy = Self.variant("lossy", "BANDWIDTH=1,CODECS=\"avc1.4d,mp4a.40.2\"")
        var chooser = try chooser(lossless + lossy)
        let variants = try Self.presentation(lossless + lossy).variants
        #expect(variants.map { chooser.contains($0) } == [false, true])
        chooser.options.variantPreferences = .scalabilityToLosslessAudio
        #expect(variants.map { chooser.contains($0) } == [true, true])
    }

    @Test func ladderFollowsTheSelectionAndThePathway() throws {
        let media = "#EXT-X-MEDIA:TYPE=AUDIO,NAME="
        let renditions = "\(media)\"E\",GROUP-ID=\"e\",DEFAULT=YES\n\(media)\"D\",GROUP-ID=\"d\"\n"
        let lines =
            renditions + Self.variant("e", "BANDWIDTH=1,AUDIO=\"e\"") + Self.variant("d", "BANDWIDTH=2,AUDIO=\"d\"")
        let presentation = try Self.presentation(lines)
        var chooser = try chooser(lines)
        #expect(presentation.variants.map { chooser.contains($0) } == [true, true])
        var selection = MediaSelection()
        selection[.audio] = presentation.group(.audio)?.options.last
        chooser.select(selection)
        #expect(presentation.variants.map { chooser.contains($0) } == [false, true])
        chooser.pathwayVariants = Set(presentation.variants.map(\.id))
        #expect(presentation.variants.map { chooser.contains($0) } == [false, true])
        chooser.options.variantPreferences = .scalabilityToLosslessAudio
        #expect(presentation.variants.map { chooser.contains($0) } == [false, true])
    }

    // MARK: Reviews

    private static func job(_ variant: Presentation.Variant?) throws -> FetchJob {
        let rendition = "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"A\",URI=\"a.m3u8\"\n"
        let audio = try presentation(rendition + Self.variant("v", "BANDWIDTH=1")).group(.audio)
        let option = try #require(audio?.options.first)
        let address = ResourceAddress("https://origin.example/v.m3u8")
        return FetchJob(
            request: 1,
            segment: try timeline().segments[2],
            source: variant.map { StreamSource($0, location: 0, address: address) }
                ?? StreamSource(identity: .option(option.id), address: address),
            began: .seconds(10),
            isSubstitute: false
        )
    }

    private static func measurement(_ bytes: Int64, firstByte: Int?, isFromCache: Bool = false) -> TransferMeasurement {
        var measurement = TransferMeasurement(requestStart: .seconds(12), isFromCache: isFromCache)
        measurement.bytes = ByteCount(bytes)
        measurement.timeToFirstByte = firstByte.map { Duration.seconds($0) }
        return measurement
    }

    private func review(
        _ chooser: inout VariantChooser,
        _ variant: Presentation.Variant,
        firstByte: Int? = 3,
        expected: Int64? = 900
    ) throws -> VariantChooser.Choice? {
        let measurement = Self.measurement(400, firstByte: firstByte)
        return chooser.review(
            measurement,
            TransferProgress(measurement: measurement, expectedBytes: expected),
            of: try Self.job(variant),
            variant: variant,
            bufferLevel: .seconds(7),
            isStarting: false,
            capacity: .seconds(44),
            now: .seconds(20)
        )
    }

    @Test func transferIsAbandonedOnlyForALowerRung() throws {
        var chooser = try chooser()
        let variants = try Self.presentation(Self.three).variants
        let continued = try review(&chooser, variants[0])
        #expect(continued == nil)
        for (rung, name) in [(-1, "a"), (0, "a"), (1, nil), (2, nil)] as [(Int, String?)] {
            record.change {
                $0.review = .abandon(SwitchDecision(rung: rung, cause: .abandon, evidence: .init(bufferLevel: .zero)))
            }
            let choice = try review(&chooser, variants[0])
            #expect(Self.name(choice?.variant) == name && choice?.cause == (name == nil ? nil : "abandon"))
        }
        let count = record.state.transfers.count
        #expect(count == 5)
        // There is nothing below the lowest rung, and a variant of another ladder has no rung.
        let other = try #require(try Self.presentation(Self.variant("x", "BANDWIDTH=5")).variants.first)
        let lowest = try review(&chooser, variants[1])
        let unknown = try review(&chooser, other)
        #expect(lowest == nil && unknown == nil)
        #expect(record.state.transfers.count == count)
    }

    @Test func selectorIsToldTheStateOfATransfer() throws {
        var chooser = try chooser()
        let variants = try Self.presentation(Self.three).variants
        _ = try review(&chooser, variants[2])
        let transfer = try #require(record.state.transfers.last)
        #expect(transfer.rung == 2 && transfer.bytesReceived == ByteCount(400) && transfer.now == .seconds(20))
        #expect(transfer.expectedSize == ByteCount(900) && transfer.request == .seconds(10))
        #expect(transfer.firstByte == .seconds(15))
        let context = try #require(record.state.contexts.last)
        #expect(context.previousRung == 2 && context.bufferLevel == .seconds(7) && !context.isStarting)
        #expect(context.bufferCapacity == .seconds(44) && context.segmentDuration == .seconds(6))
        #expect(context.now == .seconds(20) && context.restriction.allowedRungs == [0, 1, 2])
        _ = try review(&chooser, variants[2], firstByte: nil, expected: nil)
        #expect(record.state.transfers.last?.firstByte == nil && record.state.transfers.last?.expectedSize == nil)
    }

    // MARK: Measurements

    private static func fetched(_ measurement: TransferMeasurement, size: Int = 5) -> FetchedResource {
        FetchedResource(
            bytes: ByteBuffer(repeating: 1, count: size),
            address: ResourceAddress("https://origin.example/s.ts"),
            contentType: nil,
            measurement: measurement,
            startTime: .seconds(10),
            endTime: .seconds(20),
            status: 200
        )
    }

    @Test(arguments: [(nil, 20), (-5, 10), (3, 15), (8, 20), (9, 20)] as [(Int?, Int)])
    func measurementOfASegmentIsThatOfItsTransfer(firstByte: Int?, expected: Int) throws {
        var chooser = try chooser()
        let variants = try Self.presentation(Self.three).variants
        let segment = try Self.timeline().segments[3]
        chooser.add(Self.fetched(Self.measurement(800, firstByte: firstByte)), of: segment, variant: variants[2].id)
        let measurement = try #require(record.state.measurements.first)
        #expect(measurement.rung == 2 && measurement.bytes == ByteCount(800) && measurement.duration == .seconds(7))
        #expect(measurement.request == .seconds(10) && measurement.end == .seconds(20))
        #expect(measurement.firstByte == .seconds(expected) && !measurement.isCached && !measurement.isAbandoned)
    }

    @Test func segmentOfACacheHasTheSizeOfItsBytes() throws {
        var chooser = try chooser()
        let variants = try Self.presentation(Self.three).variants
        let fetched = Self.fetched(Self.measurement(0, firstByte: nil, isFromCache: true))
        chooser.add(fetched, of: try Self.timeline().segments[3], variant: variants[1].id)
        let measurement = try #require(record.state.measurements.first)
        #expect(measurement.bytes == ByteCount(5) && measurement.isCached && measurement.rung == 0)
        #expect(chooser.throughput == nil)
    }

    @Test func segmentsOfRenditionsMeasureOnlyTheNetwork() throws {
        var chooser = try chooser()
        let variants = try Self.presentation(Self.three).variants
        let fetched = Self.fetched(Self.measurement(10_000_000, firstByte: 3))
        chooser.add(fetched, of: try Self.timeline().segments[3], variant: nil)
        #expect(record.state.measurements.isEmpty && chooser.throughput != nil)
        _ = chooser.choose(try Self.context(variants[0])) { _ in true }
        #expect(record.state.contexts.last?.isStarting == true)
        let other = try #require(try Self.presentation(Self.variant("x", "BANDWIDTH=5")).variants.first)
        chooser.add(fetched, of: try Self.timeline().segments[3], variant: other.id)
        #expect(record.state.measurements.isEmpty)
        _ = chooser.choose(try Self.context(variants[0])) { _ in true }
        #expect(record.state.contexts.last?.isStarting == false)
        chooser.resetAfterSeek()
        #expect(record.state.seekCount == 1)
        _ = chooser.choose(try Self.context(variants[0])) { _ in true }
        #expect(record.state.contexts.last?.isStarting == true)
    }

    @Test(arguments: [(nil, 18), (-5, 10), (3, 15), (7, 18)] as [(Int?, Int)])
    func abandonedTransferIsMeasured(firstByte: Int?, expected: Int) throws {
        var chooser = try chooser()
        let variants = try Self.presentation(Self.three).variants
        chooser.add(
            abandoned: try Self.job(variants[0]),
            Self.measurement(300, firstByte: firstByte),
            now: .seconds(18)
        )
        let measurement = try #require(record.state.measurements.first)
        #expect(measurement.rung == 1 && measurement.bytes == ByteCount(300) && measurement.duration == .seconds(6))
        #expect(measurement.request == .seconds(10) && measurement.end == .seconds(18))
        #expect(measurement.firstByte == .seconds(expected) && measurement.isAbandoned && !measurement.isCached)
        chooser.add(abandoned: try Self.job(nil), Self.measurement(300, firstByte: 1), now: .seconds(18))
        #expect(record.state.measurements.count == 1)
    }

    // MARK: Frames

    @Test(arguments: [(119, 30, false), (120, 25, true), (120, 24, false)])
    func variantWithManyDroppedFramesIsAvoided(decoded: Int, dropped: Int, isAvoided: Bool) throws {
        var chooser = try chooser()
        let variants = try Self.presentation(Self.three).variants
        func allowed(at now: Duration) throws -> [Int]? {
            let moment = try Self.context(variants[0])
            let context = VariantChooser.Context(
                current: moment.current,
                isFirst: false,
                bufferLevel: .zero,
                capacity: .zero,
                segment: moment.segment,
                timeline: moment.timeline,
                rate: 1,
                now: now
            )
            _ = chooser.choose(context) { _ in true }
            return record.state.contexts.last?.restriction.allowedRungs
        }
        let slow = VariantDescription(id: variants[2].id.text, address: "c", peakBitRate: BitRate(bitsPerSecond: 1))
        chooser.add(FrameCounts(decoded: decoded, dropped: dropped), of: slow, now: .seconds(10))
        let other = VariantDescription(id: "other", address: "o", peakBitRate: BitRate(bitsPerSecond: 1))
        chooser.add(FrameCounts(decoded: 1_000, dropped: 1_000), of: other, now: .seconds(10))
        let expected = isAvoided ? [0, 1] : [0, 1, 2]
        let first = try allowed(at: .seconds(60))
        #expect(first == expected)
        // The same ladder does not reset the exclusion, which ends after a minute.
        chooser.select(MediaSelection())
        let second = try allowed(at: .seconds(69))
        let last = try allowed(at: .seconds(70))
        #expect(second == expected && last == [0, 1, 2])
    }
}

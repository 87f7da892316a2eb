import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of the variants between which playback switches, and of those that replace others.
@Suite struct VariantLadderTests {
    private static func variant(_ name: String, _ bitRate: Int, _ attributes: String = "") -> String {
        "#EXT-X-STREAM-INF:BANDWIDTH=\(bitRate)\(attributes)\n\(name).m3u8\n"
    }

    private static func presentation(_ lines: String) throws -> Presentation {
        Presentation(try multivariant("#EXTM3U\n" + lines))
    }

    private static func name(_ variant: Presentation.Variant) -> String {
        String(variant.address.lastPathComponent.dropLast(5))
    }

    /// Variants of 2, 1 and 3 Mbit/s, in this order.
    private static let three = variant("b", 2_000_000) + variant("a", 1_000_000) + variant("c", 3_000_000)

    private func chooser(_ lines: String = three, _ options: StreamingOptions = fast) throws -> VariantChooser {
        var chooser = VariantChooser(options)
        chooser.setPresentation(try Self.presentation(lines), selection: MediaSelection())
        return chooser
    }

    /// Options for a network that is faster than any variant.
    private static var fast: StreamingOptions {
        var options = StreamingOptions()
        options.initialThroughput = BitRate(bitsPerSecond: 50_000_000)
        return options
    }

    private func first(_ lines: String, _ options: StreamingOptions) throws -> String? {
        first(try chooser(lines, options))
    }

    private func first(_ chooser: VariantChooser) -> String? {
        chooser.first(bufferCapacity: .seconds(30)).map(Self.name)
    }

    // MARK: Alternatives

    @Test func lowerVariantsReplaceOneThatFailedBeforeHigherOnes() throws {
        let chooser = try chooser()
        let variants = try Self.presentation(Self.three).variants
        #expect(chooser.alternatives(to: variants[0]).map(Self.name) == ["a", "c"])
        #expect(chooser.alternatives(to: variants[1]).map(Self.name) == ["b", "c"])
        #expect(chooser.alternatives(to: variants[2]).map(Self.name) == ["b", "a"])
        #expect(chooser.alternatives(to: nil).map(Self.name) == ["b", "a", "c"])
        let other = try #require(try Self.presentation(Self.variant("x", 5)).variants.first)
        #expect(chooser.alternatives(to: other).map(Self.name) == ["b", "a", "c"])
        #expect(chooser.contains(variants[1]) && !chooser.contains(other))
    }

    @Test func aLowerVariantExistsAboveTheLowestOne() throws {
        let variants = try Self.presentation(Self.three).variants
        var chooser = try chooser()
        #expect(variants.map { chooser.hasLowerVariant(than: $0) } == [true, false, true])
        #expect(!chooser.hasLowerVariant(than: nil))
        chooser.options.pinnedVariant = variants[2].id.text
        #expect(!chooser.hasLowerVariant(than: variants[2]))
        #expect(first(chooser) == "c")
    }

    @Test(arguments: [(2_400_000, "b"), (2_600_000, "c"), (100, "a"), (90_000_000, "c")])
    func theNearestVariantReplacesOneThatCannotBeSelected(bitRate: Int, nearest: String) throws {
        let former = try #require(try Self.presentation(Self.variant("x", bitRate)).variants.first)
        let found = try chooser().nearest(to: former)
        #expect(found.map(Self.name) == nearest)
    }

    @Test func theNeededBitRateIsTheAverageOne() throws {
        let lines = Self.variant("v", 1_000_000, ",AVERAGE-BANDWIDTH=800000")
        let chooser = try chooser(lines)
        let variant = try #require(try Self.presentation(lines).variants.first)
        #expect(chooser.neededBitRate(of: variant, rate: 2).bitsPerSecond == 1_600_000)
        #expect(chooser.neededBitRate(of: variant, rate: 0.5).bitsPerSecond == 400_000)
        #expect(chooser.neededBitRate(of: variant, rate: -32).bitsPerSecond == 25_600_000)
    }

    // MARK: Start

    @Test(arguments: [(nil, "b"), (2_500_000, "b"), (1_500_000, "a")] as [(Int64?, String)])
    func playbackMayStartWithTheFirstEligibleVariant(peak: Int64?, name: String) throws {
        var options = Self.fast
        options.startsOnFirstEligibleVariant = true
        options.preferredPeakBitRate = peak.map { BitRate(bitsPerSecond: $0) }
        #expect(try first(Self.three, options) == name)
    }

    @Test func playbackStartsWithVideoEvenOnASlowNetwork() throws {
        let audio = Self.variant("audio", 64_000, ",CODECS=\"mp4a.40.2\"")
        let video = Self.variant("video", 1_000_000, ",CODECS=\"avc1.4d401e,mp4a.40.2\",RESOLUTION=640x360")
        var options = StreamingOptions()
        options.initialThroughput = BitRate(bitsPerSecond: 10_000)
        #expect(try first(audio + video, options) == "video")
        #expect(try first(audio + Self.variant("more", 128_000, ",CODECS=\"mp4a.40.5\""), options) == "audio")
    }

    @Test func theViewLimitsTheResolution() throws {
        let low = Self.variant("low", 1_000_000, ",RESOLUTION=640x360")
        let high = Self.variant("high", 2_000_000, ",RESOLUTION=1280x720")
        var options = Self.fast
        #expect(try first(low + high, options) == "high")
        options.viewSize = Resolution(width: 640, height: 360)
        #expect(try first(low + high, options) == "low")
        options.viewSize = Resolution(width: 1280, height: 720)
        #expect(try first(low + high, options) == "high")
    }

    @Test func theLimitsForExpensiveNetworksApplyOnlyToThem() throws {
        var options = Self.fast
        options.preferredPeakBitRateForExpensiveNetworks = BitRate(bitsPerSecond: 1_500_000)
        var chooser = try chooser(Self.three, options)
        #expect(first(chooser) == "c")
        chooser.networkCost = [.cellular]
        #expect(first(chooser) == "c")
        chooser.networkCost = [.expensive]
        #expect(first(chooser) == "a")
    }

    // MARK: Families

    private func family(
        _ lines: String,
        _ preferences: VariantPreferences = [],
        on pathways: [Int]? = nil
    ) throws -> [String] {
        let presentation = try Self.presentation(lines)
        let onPathway = pathways.map { Set($0.map { presentation.variants[$0].id }) }
        let found = VariantFamily.variants(of: presentation, for: MediaSelection(), preferences, on: onPathway)
        return found.map(Self.name)
    }

    @Test func sampleEntriesOfOneCodecBelongTogether() throws {
        let codecs = ["hvc1.1", "hev1.1", "avc1.4d", "AVC3.4d", "avc1.64"]
        let lines = codecs.enumerated().map { Self.variant("v\($0)", $0 + 1, ",CODECS=\"\($1)\"") }.joined()
        #expect(try family(lines) == ["v2", "v3", "v4"])
    }

    @Test func videoRangesAreNotMixed() throws {
        let lines =
            Self.variant("p", 1, ",CODECS=\"hvc1.2\",VIDEO-RANGE=PQ")
            + Self.variant("s", 2, ",CODECS=\"hvc1.2\",VIDEO-RANGE=SDR") + Self.variant("n", 3, ",CODECS=\"hvc1.2\"")
        #expect(try family(lines) == ["s", "n"])
    }

    @Test func variantsWithoutCodecsAreUsedTogetherWithOthersOfTheSameVideoRange() throws {
        let bare = Self.variant("bare", 1)
        let named = Self.variant("named", 2, ",CODECS=\"avc1.4d\"")
        let bright = Self.variant("bright", 3, ",CODECS=\"hvc1.2\",VIDEO-RANGE=PQ")
        #expect(try family(bare + named) == ["bare", "named"])
        #expect(try family(bare + bright) == ["bright"])
        #expect(try family(bare + Self.variant("other", 2)) == ["bare", "other"])
    }

    @Test func variantsOfAudioAloneFollowTheVideo() throws {
        let audio = Self.variant("audio", 1, ",CODECS=\"mp4a.40.2\"")
        let video = (0..<2).map { Self.variant("v\($0)", $0 + 2, ",CODECS=\"avc1.4d,mp4a.40.2\"") }.joined()
        #expect(try family(audio + video) == ["v0", "v1", "audio"])
        #expect(try family(audio) == ["audio"])
    }

    @Test func losslessAudioNeedsAPreferenceUnlessThereIsNoOther() throws {
        let lossless = Self.variant("lossless", 1, ",CODECS=\"avc1.4d,fLaC\"")
        let lossy = Self.variant("lossy", 2, ",CODECS=\"avc1.4d,mp4a.40.2\"")
        #expect(try family(lossless + lossy) == ["lossy"])
        #expect(try family(lossless + lossy, .scalabilityToLosslessAudio) == ["lossless", "lossy"])
        #expect(try family(lossless) == ["lossless"])
    }

    @Test func theVariantsAreThoseOfThePathwayIfItHasAny() throws {
        let lines =
            "#EXT-X-CONTENT-STEERING:SERVER-URI=\"s.json\",PATHWAY-ID=\"two\"\n"
            + Self.variant("one", 1, ",PATHWAY-ID=\"one\"") + Self.variant("two", 2, ",PATHWAY-ID=\"two\"")
        #expect(try family(lines) == ["two"])
        #expect(try family(lines, on: [0]) == ["one"])
        #expect(try family(lines, on: []) == ["one", "two"])
    }

    @Test func theFirstOfEqualVariantsWithTheSamePlaylistIsUsed() throws {
        let lines =
            Self.variant("v", 2, ",CODECS=\"avc1.4d,mp4a.40.2\"") + Self.variant("v", 2, ",CODECS=\"avc1.4d,ac-3\"")
        let presentation = try Self.presentation(lines)
        let found = VariantFamily.variants(of: presentation, for: MediaSelection())
        #expect(found.map(\.codecs.audio) == [["mp4a.40.2"]])
    }

    // MARK: Buffer

    private static func entry(
        _ start: Int64,
        _ bytes: Int,
        isTrickPlay: Bool = false,
        hasNoMedia: Bool = false
    ) -> StreamBuffer.Entry {
        StreamBuffer.Entry(
            range: MediaTimeRange(start: MediaTime(seconds: start), duration: MediaTime(seconds: 6)),
            type: .muxed,
            byteCount: bytes,
            variant: nil,
            isTrickPlay: isTrickPlay,
            hasNoMedia: hasNoMedia
        )
    }

    @Test func theAverageBitRateIsThatOfMediaForNormalPlayback() {
        var buffer = StreamBuffer()
        buffer.insert(Self.entry(0, 0, hasNoMedia: true))
        buffer.insert(Self.entry(6, 9_000, isTrickPlay: true))
        #expect(buffer.averageBitRate == nil)
        buffer.insert(Self.entry(12, 6_000))
        #expect(buffer.averageBitRate == BitRate(bitsPerSecond: 8_000))
        buffer.insert(Self.entry(18, 3_000))
        #expect(buffer.averageBitRate == BitRate(bitsPerSecond: 6_000))
        buffer.discardAll()
        #expect(buffer.averageBitRate == nil && buffer.byteCount == 0 && buffer.entries.isEmpty)
    }

    @Test func mediaIsOutdatedOnlyAfterTheTime() {
        var buffer = StreamBuffer()
        for start in [Int64(0), 6] { buffer.insert(Self.entry(start, 1)) }
        buffer.markOutdated(from: MediaTime(seconds: 12))
        #expect(buffer.current == buffer.loaded)
        buffer.markOutdated(from: MediaTime(seconds: 11))
        #expect(buffer.current.ranges.last?.end == MediaTime(seconds: 11))
    }
}

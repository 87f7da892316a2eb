import HLSPlaylist
import MediaTiming
import PlaylistEditing
import Testing

/// Tests which redundant variants are found, and which of them remain.
@Suite struct RedundantVariantsTests {
    private static let target = MediaTime(seconds: 4)
    /// A time that is longer than three target durations.
    private static let long = Duration.seconds(13)

    private func live(
        _ sequence: Int64,
        date: Int64? = nil,
        unchanged: Duration = .zero,
        hasChanged: Bool = false
    ) -> VariantAvailability {
        .live(
            LiveVariant(
                targetDuration: Self.target,
                endSequence: sequence,
                endDate: date.map { MediaTime(seconds: $0) },
                unchangedTime: unchanged,
                hasChanged: hasChanged
            )
        )
    }

    // MARK: Decision

    @Test func failedVariantsAreRemoved() {
        #expect(RedundantVariants.remaining(of: [.failed, live(10)]) == [false, true])
        #expect(RedundantVariants.remaining(of: [.complete, .failed, .complete]) == [true, false, true])
    }

    @Test(arguments: [[.failed, .failed], [.failed, .unknown], [.unknown, .unknown]] as [[VariantAvailability]])
    func allRemainIfNoneWasLoaded(members: [VariantAvailability]) {
        #expect(RedundantVariants.remaining(of: members) == [true, true])
    }

    @Test func unknownAndCompleteVariantsRemain() {
        #expect(RedundantVariants.remaining(of: [.unknown, live(10), .complete]) == [true, true, true])
        #expect(RedundantVariants.remaining(of: []) == [])
    }

    @Test(arguments: [(10, true), (7, true), (6, false), (0, false)] as [(Int64, Bool)])
    func variantsBehindByMoreThanThreeSegmentsAreRemoved(sequence: Int64, remains: Bool) {
        #expect(RedundantVariants.remaining(of: [live(sequence), live(10)]) == [remains, true])
    }

    /// Origins that were started at different times have different numbers; dates are the same for all of them.
    @Test(arguments: [(100, true), (88, true), (87, false)] as [(Int64, Bool)])
    func datesCountInsteadOfNumbersIfAllHaveThem(date: Int64, remains: Bool) {
        let members = [live(900, date: date), live(10, date: 100)]
        #expect(RedundantVariants.remaining(of: members) == [remains, true])
    }

    @Test func numbersCountIfOneHasNoDate() {
        #expect(RedundantVariants.remaining(of: [live(10, date: 1), live(11)]) == [true, true])
        #expect(RedundantVariants.remaining(of: [live(1, date: 100), live(11)]) == [false, true])
    }

    @Test func unchangedVariantIsRemovedIfAnotherHasChanged() {
        let frozen = live(10, unchanged: Self.long, hasChanged: true)
        #expect(RedundantVariants.remaining(of: [frozen, live(10, hasChanged: true)]) == [false, true])
        // It is not known whether the other one has changed.
        #expect(RedundantVariants.remaining(of: [frozen, live(10)]) == [true, true])
        let within = live(10, unchanged: .seconds(12), hasChanged: true)
        #expect(RedundantVariants.remaining(of: [within, live(11, hasChanged: true)]) == [true, true])
    }

    /// A stream can pause at all of its origins.
    @Test func allRemainIfNoneHasChanged() {
        let frozen = live(10, unchanged: Self.long, hasChanged: true)
        #expect(RedundantVariants.remaining(of: [frozen, frozen]) == [true, true])
    }

    /// The end of a playlist that does not change is no measure for the others, however high its number is.
    @Test func unchangedVariantIsNotTheBest() {
        let frozen = live(900, unchanged: Self.long, hasChanged: true)
        let members = [frozen, live(10, hasChanged: true), live(9)]
        #expect(RedundantVariants.remaining(of: members) == [false, true, true])
    }

    /// Several I-frames can be in one target duration.
    @Test(arguments: [(10, true), (9, false)] as [(Int64, Bool)])
    func toleratedNumberOfSegmentsIsThatOfThePlaylist(sequence: Int64, remains: Bool) {
        var behind = LiveVariant(targetDuration: Self.target, endSequence: sequence)
        behind.toleratedSegmentCount = 12
        #expect(RedundantVariants.remaining(of: [.live(behind), live(22)]) == [remains, true])
    }

    @Test func extremeNumbersDoNotTrap() {
        let members = [live(Int64.min, date: Int64.min), live(Int64.max, date: Int64.max)]
        #expect(RedundantVariants.remaining(of: members) == [false, true])
        #expect(RedundantVariants.remaining(of: [live(Int64.min), live(Int64.max)]) == [false, true])
    }

    // MARK: Groups

    private func playlist(_ lines: String) throws -> MultivariantPlaylist {
        try MultivariantPlaylist(parsing: Array("#EXTM3U\n\(lines)".utf8))
    }

    private static let audio = """
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a1",NAME="E",LANGUAGE="en",URI="a1.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a2",NAME="E",URI="a2.m3u8",LANGUAGE="en"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="other",NAME="K",LANGUAGE="ko",URI="other.m3u8"

        """

    @Test func variantsWithEqualAttributesAreRedundant() throws {
        let playlist = try playlist(
            Self.audio + """
                #EXT-X-STREAM-INF:BANDWIDTH=1000,CODECS="avc1,mp4a",AUDIO="a1"
                1/low.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=2000,AUDIO="a1"
                1/high.m3u8
                #EXT-X-STREAM-INF:CODECS="avc1,mp4a",BANDWIDTH=1000,AUDIO="a2"
                2/low.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=1000,CODECS="avc1,mp4a",AUDIO="other"
                other.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=1000,CODECS="avc1,mp4a",AUDIO="a1",PATHWAY-ID="P"
                pathway.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=2000,AUDIO="a2"
                2/high.m3u8

                """
        )
        #expect(RedundantVariants(in: playlist).groups == [[0, 2], [1, 5]])
    }

    @Test func variantsWithOneURIAreNotRedundant() throws {
        let playlist = try playlist("#EXT-X-STREAM-INF:BANDWIDTH=1\na\n#EXT-X-STREAM-INF:BANDWIDTH=1\na\n")
        #expect(RedundantVariants(in: playlist).groups.isEmpty)
    }

    private static let iFrames = """
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100,RESOLUTION=16x9,URI="1/i.m3u8"
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=200,URI="1/j.m3u8"
        #EXT-X-I-FRAME-STREAM-INF:URI="2/i.m3u8",RESOLUTION=16x9,BANDWIDTH=100
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100,RESOLUTION=16x9,PATHWAY-ID="P",URI="3/i.m3u8"

        """
    private static let variant = "#EXT-X-STREAM-INF:BANDWIDTH=1000,RESOLUTION=16x9\n1/v.m3u8\n"

    @Test func iFrameVariantsWithEqualAttributesAreRedundant() throws {
        let redundant = RedundantVariants(in: try playlist(Self.iFrames + Self.variant))
        #expect(redundant.iFrameGroups == [[0, 2]])
        #expect(redundant.groups.isEmpty)
    }

    /// Without a variant for playback, no I-frame variant is left out.
    @Test func iFrameVariantsAloneAreNotRedundant() throws {
        let redundant = RedundantVariants(in: try playlist(Self.iFrames))
        #expect(redundant.iFrameGroups.isEmpty)
    }

    // MARK: Removal

    @Test func iFrameVariantIsRemovedAlone() throws {
        let playlist = try playlist(Self.iFrames + Self.variant)
        let result = try RedundantVariants.removed(at: [], iFrameVariantsAt: [0, 9], from: playlist)
        let expected = Self.iFrames.split(separator: "\n").dropFirst().map { "\($0)\n" }.joined() + Self.variant
        #expect(result.bytes == Array("#EXTM3U\n\(expected)".utf8))
        let unchanged = try RedundantVariants.removed(at: [], iFrameVariantsAt: [9], from: playlist)
        #expect(unchanged.bytes == playlist.bytes)
    }

    @Test func renditionsOfRemovedVariantsAreRemoved() throws {
        let kept = """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a1",NAME="E",URI="a1.m3u8"

            """
        let removed = """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a2",NAME="E",URI="a2.m3u8"

            """
        let first = "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a1\"\n1.m3u8\n"
        let second = "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a2\"\n2.m3u8\n"
        let playlist = try playlist(kept + removed + first + second)
        let result = try RedundantVariants.removed(at: [1], from: playlist)
        #expect(result.bytes == Array("#EXTM3U\n\(kept)\(first)".utf8))
        let unchanged = try RedundantVariants.removed(at: [], from: playlist)
        #expect(unchanged.bytes == playlist.bytes)
        #expect(throws: PlaylistEditError.self) { try RedundantVariants.removed(at: [0, 1], from: playlist) }
    }
}

import MediaTiming
import SegmentFormat
import Testing

@Suite struct FragmentedSubtitlesTests {
    static func initialization(_ format: String, _ fields: [UInt8], edits: [UInt8] = []) -> [UInt8] {
        let entry = box(format, zeros(6), u16(1), fields)
        return Movies.fileType
            + box(
                "moov",
                Movies.movieHeader(),
                Movies.videoTrack,
                Movies.track(3, handler: "text", timescale: 1_000, entry: entry, edits: edits),
                box("mvex", Movies.defaults(3, duration: 1_000))
            )
    }

    static let webVTT = initialization(
        "wvtt",
        box("vttC", ascii("WEBVTT\n\nSTYLE\n::cue { color: red }\n\nREGION\nid:r\nwidth:50%"))
    )
    static let timedText = initialization("stpp", ascii("http://www.w3.org/ns/ttml\0\0\0"))

    /// Returns a fragment of samples with their durations in milliseconds.
    static func fragment(base: Int, _ samples: [(duration: Int, bytes: [UInt8])]) -> [UInt8] {
        func moof(_ offset: Int) -> [UInt8] {
            box(
                "moof",
                fullBox("mfhd", 0, 0, u32(1)),
                box(
                    "traf",
                    fullBox("tfhd", 0, 0x2_0000, u32(3)),
                    fullBox("tfdt", 1, 0, u64(base)),
                    fullBox(
                        "trun",
                        0,
                        0x301,
                        u32(samples.count),
                        u32(offset),
                        samples.flatMap { u32($0.duration) + u32($0.bytes.count) }
                    )
                )
            )
        }
        return moof(moof(0).count + 8) + box("mdat", samples.flatMap(\.bytes))
    }

    static func cue(_ text: String, settings: String = "", id: String = "") -> [UInt8] {
        box(
            "vttc",
            id.isEmpty ? [] : box("iden", ascii(id)),
            settings.isEmpty ? [] : box("sttg", ascii(settings)),
            box("payl", ascii(text))
        )
    }

    private static func track(_ initialization: [UInt8], _ trackID: UInt32? = nil) -> FragmentedSubtitles? {
        FragmentedSubtitles(initialization: initialization.span, trackID: trackID)
    }

    private func cues(_ initialization: [UInt8], _ segment: [UInt8]) throws -> [SubtitleCue] {
        let track = try #require(Self.track(initialization))
        return try track.cues(in: segment.span)
    }

    /// Without a data offset, the data of a track fragment follows that of the previous one (ISO/IEC 14496-12
    /// §8.8.7.1).
    @Test(arguments: [false, true])
    func dataWithoutOffsetFollowsDataOfPreviousTrack(hasSampleSizes: Bool) throws {
        let other = zeros(30)
        let cue = Self.cue("a")
        func moof(_ offset: Int) -> [UInt8] {
            let run =
                hasSampleSizes
                ? fullBox("trun", 0, 0x201, u32(2), u32(offset), u32(10), u32(20))
                : fullBox("trun", 0, 0x1, u32(3), u32(offset))
            let video = box("traf", fullBox("tfhd", 0, 0x10, u32(1), u32(10)), run)
            let text = box(
                "traf",
                fullBox("tfhd", 0, 0, u32(3)),
                fullBox("tfdt", 1, 0, u64(0)),
                fullBox("trun", 0, 0x200, u32(1), u32(cue.count))
            )
            return box("moof", fullBox("mfhd", 0, 0, u32(1)), video, text)
        }
        let segment = moof(moof(0).count + 8) + box("mdat", other, cue)
        #expect(try cues(Self.webVTT, segment).map(Subtitles.line) == ["0-1 a"])
    }

    @Test func webVTTSamplesBecomeCuesWithStylesOfHeader() throws {
        let segment = Self.fragment(
            base: 4_000,
            [
                (1_000, box("vtte")), (2_000, Self.cue("<b>a</b>", settings: "region:r", id: "1") + Self.cue("b")),
                (1_000, Self.cue("b")),
            ]
        )
        let cues = try cues(Self.webVTT, segment)
        #expect(cues.map(Subtitles.line) == ["5-7 a", "5-7 b", "7-8 b"])
        #expect(cues[0].id == "1")
        #expect(cues[0].lines[0].spans[0].style.isBold)
        #expect(cues[0].lines[0].spans[0].style.color == SubtitleColor(red: 255, green: 0, blue: 0))
        #expect(cues[0].placement.boxSize == 50)
        var timeline = SubtitleTimeline()
        timeline.insert(Array(cues.prefix(2)))
        timeline.insert(Array(cues.suffix(1)))
        #expect(timeline.cues.map(Subtitles.line) == ["5-7 a", "5-8 b"])
    }

    @Test func timedTextCuesAreClampedToSampleTime() throws {
        let document = ascii(
            Subtitles.tt("<body><div><p begin='1s' end='5s'>a</p><p begin='5s' end='30s'>b</p></div></body>")
        )
        let segment = Self.fragment(base: 4_000, [(2_000, document)])
        #expect(try cues(Self.timedText, segment).map(Subtitles.line) == ["4-5 a", "5-6 b"])
    }

    @Test func editListMovesCues() throws {
        let start = Self.initialization("wvtt", [], edits: Movies.editList([(0, 3_000)]))
        #expect(try cues(start, Self.fragment(base: 4_000, [(1_000, Self.cue("a"))])).map(Subtitles.line) == ["1-2 a"])
    }

    @Test func missingSamplesAreIgnored() throws {
        let segment = Self.fragment(base: 0, [(1_000, Self.cue("a")), (1_000, Self.cue("b"))])
        #expect(try cues(Self.webVTT, Array(segment.dropLast(3))).map(Subtitles.line) == ["0-1 a"])
    }

    @Test func damagedSamplesAreAnErrorOnlyIfAllAreDamaged() throws {
        let one = Self.fragment(base: 0, [(1_000, ascii("garbage!")), (1_000, Self.cue("b"))])
        #expect(try cues(Self.webVTT, one).map(Subtitles.line) == ["1-2 b"])
        let all = Self.fragment(base: 0, [(1_000, ascii("garbage!"))])
        #expect(throws: MediaFormatError.malformed("WebVTT sample")) { try cues(Self.webVTT, all) }
    }

    @Test func audioTrackIsNotASubtitleTrack() {
        #expect(Self.track(Movies.initialization) == nil)
        #expect(Self.track(Self.webVTT, 1) == nil)
        #expect(Self.track(Self.webVTT)?.trackID == 3)
    }
}

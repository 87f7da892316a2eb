import Adaptation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import StreamingEngine
import Testing

/// Tests of audio and subtitles in separate playlists, for video with and without muxed audio.
@Suite struct RenditionPlaybackTests {
    @Test func audioOnlyVariantsAreFetchedOnceIfTheyAreAlsoRenditions() async throws {
        let stream = try await TextStreamPlayback.playedOut(
            TextStreamPlayback.texts(
                """
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="s.m3u8"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",AUTOSELECT=YES,URI="k.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2",AUDIO="a"
                s.m3u8
                """,
                ["s", "k"]
            )
        )
        #expect(stream.engine.snapshot.hasPlayedToEnd && stream.asked("s").count == 6)
    }

    @Test func anotherLanguageOfAnAudioOnlyVariantReplacesIt() async throws {
        let texts = TextStreamPlayback.texts(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="s.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",AUTOSELECT=YES,URI="k.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2",AUDIO="a"
            s.m3u8
            """,
            ["s", "k"],
            count: 12
        )
        let stream = TextStreamPlayback(texts)
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(20))
            let option = engine.snapshot.presentation?.group(.audio)?.options.first { $0.language == "ko" }
            #expect(option != nil)
            await engine.select(option, for: .audio)
            try await stream.expect(\.hasPlayedToEnd)
        }
        #expect(stream.asked("k").last?.hasSuffix("k11.ts") == true)
        #expect(stream.asked("s").allSatisfy { !$0.hasSuffix("s11.ts") })
    }

    @Test func aSelectedLanguageIsPlayedWithoutAutoselect() async throws {
        var options = StreamingOptions()
        options.selectionRules.audioLanguages = ["fr"]
        let texts = TextStreamPlayback.texts(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="s.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="French",LANGUAGE="fr",URI="k.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=640000,CODECS="avc1.42c01e,mp4a.40.2",AUDIO="a"
            v.m3u8
            """,
            ["s", "k", "v"]
        )
        #expect(try await TextStreamPlayback.playedOut(texts, options: options).asked("k").isEmpty)
        options.selectionRules.isLanguageChoiceExplicit = true
        #expect(try await TextStreamPlayback.playedOut(texts, options: options).asked("k").count == 6)
    }

    @Test func videoContinuesWithoutAudioThatCannotBeLoaded() async throws {
        var texts = TextStreamPlayback.texts(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="s.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=640000,CODECS="avc1.42c01e,mp4a.40.2",AUDIO="a"
            v.m3u8
            """,
            ["s", "v"],
            count: 10
        )
        for index in 0..<10 { texts["\(TextStreamPlayback.origin)s\(index).ts"] = nil }
        let stream = try await TextStreamPlayback.playedOut(texts)
        #expect(stream.engine.snapshot.hasPlayedToEnd)
        #expect(stream.engine.snapshot.selection[.audio] == nil)
        #expect(
            stream.events.all.contains { event in
                guard case .selectionChanged(let change) = event.kind else { return false }
                return change.mediaType == .audio && change.option == nil && !change.isExplicit
            }
        )
    }

    @Test func theSameAudioIsFetchedFromAnotherGroup() async throws {
        var options = StreamingOptions()
        options.variantSelection = VariantSelection(.fixedLowest)
        let texts = TextStreamPlayback.texts(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="gone.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="s.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=640000,CODECS="avc1.42c01e,mp4a.40.2",AUDIO="a"
            v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=940000,CODECS="avc1.42c01e,mp4a.40.2",AUDIO="b"
            w.m3u8
            """,
            ["s", "v", "w"]
        )
        let stream = try await TextStreamPlayback.playedOut(texts, options: options)
        #expect(stream.engine.snapshot.hasPlayedToEnd && stream.asked("s").count == 6)
    }

    @Test(arguments: [true, false])
    func audioChangesBetweenMuxedAndSeparateWithoutAGap(endsApart: Bool) async throws {
        let texts = TextStreamPlayback.texts(
            Self.movingAudio,
            ["s", "m", "v"],
            count: 20
        )
        var options = StreamingOptions()
        options.variantSelection = VariantSelection(endsApart ? .fixedLowest : .fixedHighest)
        let stream = TextStreamPlayback(texts, options: options)
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(9))
            await engine.update { $0.variantSelection = VariantSelection(endsApart ? .fixedHighest : .fixedLowest) }
            try await stream.expect(\.hasPlayedToEnd)
        }
        #expect(!stream.events.all.contains { $0.kind == .stalled })
        // Audio of each moment is fetched once, from one of the two playlists.
        let apart = stream.asked("s").compactMap(TextStreamPlayback.number)
        let muxed = stream.asked("m").compactMap(TextStreamPlayback.number)
        #expect(Set(apart).isDisjoint(with: muxed), "\(apart) \(muxed)")
        #expect(Set(apart).union(muxed) == Set(0..<20))
    }

    private static let apartAndMuxed = """
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="French",LANGUAGE="fr",AUTOSELECT=YES,URI="f.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=640000,CODECS="avc1.42c01e,mp4a.40.2",AUDIO="a"
        m.m3u8
        """

    private func select(_ language: String, _ engine: PlaybackEngine) async {
        let option = engine.snapshot.presentation?.group(.audio)?.options.first { $0.language == language }
        #expect(option != nil)
        await engine.select(option, for: .audio)
    }

    @Test func aChangeOfLanguageDoesNotStallPlayback() async throws {
        let stream = TextStreamPlayback(TextStreamPlayback.texts(Self.apartAndMuxed, ["m", "f"], count: 20))
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(20))
            await select("fr", engine)
            try await stream.simulation.sleep(for: .seconds(20))
            await select("en", engine)
            try await stream.expect(\.hasPlayedToEnd)
        }
        #expect(!stream.events.all.contains { $0.kind == .stalled })
        // French is fetched from the position at which it was selected, and English again from the position at which it
        // was.
        #expect(stream.asked("f").first?.hasSuffix("f3.ts") == true)
        let pictures = stream.asked("m").compactMap(TextStreamPlayback.number)
        #expect(pictures.count { $0 == 6 } == 2, "\(pictures)")
    }

    @Test func aForbiddenKeyNoLongerMattersInAnotherLanguage() async throws {
        var texts = TextStreamPlayback.texts(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="French",LANGUAGE="fr",DEFAULT=YES,AUTOSELECT=YES,URI="f.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",AUTOSELECT=YES,URI="s.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=640000,CODECS="avc1.42c01e,mp4a.40.2",AUDIO="a"
            v.m3u8
            """,
            ["v", "f", "s"],
            count: 20
        )
        texts[TextStreamPlayback.origin + "f.m3u8"] = SampleStream.media("f", count: 20)
            .replacing("#EXTINF:6,\nf4.ts", with: "#EXT-X-KEY:METHOD=AES-128,URI=\"key\"\n#EXTINF:6,\nf4.ts")
        let refusal = TransportError(.status, "the server answered 403", status: 403)
        let stream = TextStreamPlayback(texts, failing: [TextStreamPlayback.origin + "key": refusal])
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(10))
            #expect(engine.snapshot.status == .readyToPlay)
            await select("en", engine)
            try await stream.expect { $0.hasPlayedToEnd || $0.status == .failed }
            #expect(engine.snapshot.hasPlayedToEnd)
        }
    }

    @Test func separateAudioThatEndsBeforeASwitchToMuxedAudioCausesNoLoop() async throws {
        var texts = TextStreamPlayback.texts(
            Self.movingAudio,
            ["m", "v"],
            count: 20
        )
        texts[TextStreamPlayback.origin + "s.m3u8"] = SampleStream.media("s", count: 3)
        for index in 0..<3 { texts["\(TextStreamPlayback.origin)s\(index).ts"] = "media" }
        for index in 5..<20 { texts["\(TextStreamPlayback.origin)v\(index).ts"] = nil }
        var options = StreamingOptions()
        options.variantSelection = VariantSelection(.fixedHighest)
        #expect(try await TextStreamPlayback.playedOut(texts, options: options).engine.snapshot.hasPlayedToEnd)
    }

    @Test func aSwitchFromAudioOnlyToVideoDoesNotStallPlayback() async throws {
        let texts = TextStreamPlayback.texts(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="s.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2",AUDIO="a"
            s.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=940000,CODECS="avc1.42c01e,mp4a.40.2",RESOLUTION=1280x720,AUDIO="a"
            v.m3u8
            """,
            ["s", "v"],
            count: 20
        )
        var options = StreamingOptions()
        options.pinnedVariant = nil
        options.variantSelection = VariantSelection(.fixedLowest)
        let stream = TextStreamPlayback(texts, options: options)
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(15))
            await engine.update { $0.variantSelection = VariantSelection(.fixedHighest) }
            try await stream.expect(\.hasPlayedToEnd)
        }
        #expect(!stream.events.all.contains { $0.kind == .stalled })
        #expect(stream.asked("v").count > 5)
        let audio = stream.asked("s")
        #expect(Set(audio).count == audio.count, "\(audio)")
    }

    /// The segments of one audio group are missing; another group has the same language.
    @Test(arguments: [3, 10]) func missingAudioSegmentsAreFetchedFromAnotherGroup(missing: Int) async throws {
        var options = StreamingOptions()
        options.variantSelection = VariantSelection(.fixedLowest)
        var texts = TextStreamPlayback.texts(Self.twoGroups, ["s", "t", "v", "w"], count: 10)
        for index in (10 - missing)..<10 { texts["\(TextStreamPlayback.origin)s\(index).ts"] = nil }
        let stream = try await TextStreamPlayback.playedOut(texts, options: options)
        #expect(stream.engine.snapshot.hasPlayedToEnd && stream.engine.snapshot.selection[.audio] != nil)
        // Neither the first failed segment nor any other is skipped.
        #expect(stream.asked("t").count == missing, "\(stream.asked("t"))")
        #expect(!stream.events.names.contains("segmentSkipped"))
    }

    /// If no group has a segment, only that segment is skipped.
    @Test func anAudioSegmentThatNoGroupHasIsSkipped() async throws {
        var texts = TextStreamPlayback.texts(Self.twoGroups, ["s", "t", "v", "w"], count: 10)
        for name in ["s", "t"] { texts["\(TextStreamPlayback.origin)\(name)4.ts"] = nil }
        let stream = try await TextStreamPlayback.playedOut(texts)
        #expect(stream.engine.snapshot.hasPlayedToEnd && stream.engine.snapshot.selection[.audio] != nil)
        #expect(stream.events.names.count { $0 == "segmentSkipped" } == 1)
        #expect(stream.asked("s").count + stream.asked("t").count <= 12)
    }

    private static let twoGroups = """
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="s.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="b",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="t.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=640000,CODECS="avc1.42c01e,mp4a.40.2",AUDIO="a"
        v.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=940000,CODECS="avc1.42c01e,mp4a.40.2",AUDIO="b"
        w.m3u8
        """

    /// Subtitles that could not be loaded are requested again when a viewer selects them.
    @Test func disabledSubtitlesAreLoadedAgainWhenSelected() async throws {
        var texts = TextStreamPlayback.texts(
            """
            #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="t",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="s.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=640000,CODECS="avc1.42c01e",SUBTITLES="t"
            v.m3u8
            """,
            ["v", "s"],
            count: 20
        )
        for index in 0..<6 { texts["\(TextStreamPlayback.origin)s\(index).ts"] = nil }
        let stream = TextStreamPlayback(texts)
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.expect { $0.status == .readyToPlay && $0.selection[.subtitles] == nil }
            try await stream.simulation.sleep(for: .seconds(50))
            let option = engine.snapshot.presentation?.group(.subtitles)?.options.first
            await engine.select(option, for: .subtitles)
            try await stream.expect(\.hasPlayedToEnd)
            #expect(engine.snapshot.selection[.subtitles] == option && option != nil)
        }
        #expect(stream.asked("s").last?.hasSuffix("s19.ts") == true)
        #expect(!stream.events.all.contains { $0.kind == .stalled })
    }

    /// Seeks while the audio still comes from a separate playlist, although it will come muxed with the video: there
    /// must be audio at the target.
    @Test(arguments: [0, 30, 100]) func aSeekDuringAChangeToMuxedAudioHasAudio(target: Int64) async throws {
        let texts = TextStreamPlayback.texts(Self.movingAudio, ["s", "m", "v"], count: 20)
        var options = StreamingOptions()
        options.variantSelection = VariantSelection(.fixedHighest)
        let stream = TextStreamPlayback(texts, options: options, slow: ("s4.ts", .seconds(20)))
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(9))
            await engine.update { $0.variantSelection = VariantSelection(.fixedLowest) }
            // Video with muxed audio is being transferred, and the audio for the video buffered before is late.
            try await stream.simulation.sleep(for: .milliseconds(200))
            let began = stream.simulation.now
            let result = await engine.seek(to: MediaTime(seconds: target), tolerance: .exact)
            #expect(result == SeekResult(isFinished: true, position: MediaTime(seconds: target)))
            // The seek does not wait for the late audio.
            #expect(stream.simulation.now - began < .seconds(5))
            try await stream.expect(\.hasPlayedToEnd)
        }
        #expect(!stream.events.all.contains { $0.kind == .stalled })
        // From the target on, there is audio for every moment.
        let heard = Set((stream.asked("s") + stream.asked("m")).compactMap(TextStreamPlayback.number))
        #expect(heard.isSuperset(of: Int(target / 6)..<20), "\(heard.sorted())")
    }

    private static let movingAudio = """
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="s.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="m",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES
        #EXT-X-STREAM-INF:BANDWIDTH=640000,CODECS="avc1.42c01e,mp4a.40.2",RESOLUTION=640x360,AUDIO="m"
        m.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=940000,CODECS="avc1.42c01e,mp4a.40.2",RESOLUTION=1280x720,AUDIO="a"
        v.m3u8
        """
}

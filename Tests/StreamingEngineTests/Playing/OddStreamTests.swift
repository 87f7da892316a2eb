import Adaptation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaybackReporting
import ResourceAddressing
import StreamingEngine
import Synchronization
import Testing

/// Streams that are allowed to be as they are, and seldom are.
@Suite struct OddStreamTests {
    private static let origin = "https://origin.example/"

    /// Media playlists and their segments, beside a multivariant playlist.
    private static func texts(_ multivariant: String, _ names: [String], count: Int = 6) -> [String: String] {
        var texts = [PlayedStream.address: "#EXTM3U\n" + multivariant]
        for name in names {
            texts[origin + name + ".m3u8"] = SampleStream.media(name, count: count)
            for index in 0..<count { texts["\(origin)\(name)\(index).ts"] = "media of \(name) \(index)" }
        }
        return texts
    }

    private func playOut(
        _ texts: [String: String],
        options: StreamingOptions = StreamingOptions()
    ) async throws
        -> PlayedStream
    {
        let stream = PlayedStream(texts, options: options)
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.expect { $0.hasPlayedToEnd || $0.status == .failed }
        }
        return stream
    }

    private func asked(_ stream: PlayedStream, _ name: String) -> [String] {
        stream.transport.requestedAddresses.filter { $0.hasSuffix(".ts") && $0.hasPrefix(Self.origin + name) }
    }

    /// From the first variant to the highest as soon as can be.
    private var rising: StreamingOptions {
        var options = StreamingOptions()
        options.startsOnFirstEligibleVariant = true
        options.selector = .fixedHighest
        return options
    }

    // MARK: Ladders

    @Test func pictureIsPlayedHoweverManyVariantsAreSoundAlone() async throws {
        var options = StreamingOptions()
        options.initialThroughput = BitRate(bitsPerSecond: 50_000_000)
        let stream = try await playOut(
            Self.texts(
                """
                #EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.5"
                s.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=128000,CODECS="mp4a.40.2"
                t.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=800000,CODECS="avc1.42c01e,mp4a.40.2"
                v.m3u8
                """,
                ["s", "t", "v"]
            ),
            options: options
        )
        #expect(stream.engine.snapshot.hasPlayedToEnd)
        #expect(asked(stream, "v").count == 6 && asked(stream, "s").isEmpty && asked(stream, "t").isEmpty)
    }

    @Test func aVariantThatNamesNoFormatsIsOneOfTheLadder() async throws {
        var options = StreamingOptions()
        options.selector = .fixedHighest
        let stream = try await playOut(
            Self.texts(
                """
                #EXT-X-STREAM-INF:BANDWIDTH=800000,CODECS="avc1.42c01e,mp4a.40.2"
                v.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.42c01e,mp4a.40.2"
                w.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=2700000
                n.m3u8
                """,
                ["v", "w", "n"]
            ),
            options: options
        )
        #expect(asked(stream, "n").count >= 5)
    }

    @Test func whatOtherFormatsHaveIsPlayedWhereTheLadderHasNothing() async throws {
        let texts = Self.texts(
            """
            #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.42c01e"
            gone.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.42c01e"
            lost.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=700000,CODECS="hvc1.1.6.L93.B0"
            h.m3u8
            """,
            ["h"]
        )
        let stream = try await playOut(texts)
        #expect(stream.engine.snapshot.hasPlayedToEnd && asked(stream, "h").count == 6)
        // Each that cannot be had was told of.
        let failed = stream.events.all.count { event in
            if case .variantSwitched(_, succeeded: false) = event.kind { true } else { false }
        }
        #expect(failed == 0, "nothing was played before")
    }

    @Test func aVariantWithoutSegmentsIsLeftAloneAfterTwo() async throws {
        var options = StreamingOptions()
        options.selector = .fixedHighest
        var texts = Self.texts(
            """
            #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.42c01e"
            v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.42c01e"
            w.m3u8
            """,
            ["v", "w"]
        )
        for index in 0..<6 { texts["\(Self.origin)w\(index).ts"] = nil }
        let stream = try await playOut(texts, options: options)
        #expect(stream.engine.snapshot.hasPlayedToEnd && asked(stream, "v").count == 6)
        #expect(asked(stream, "w").count == 2)
    }

    @Test func aSwitchToAPlaylistThatIsNotThereIsToldToHaveFailed() async throws {
        let texts = Self.texts(
            """
            #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.42c01e"
            v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.42c01e"
            gone.m3u8
            """,
            ["v"],
            count: 12
        )
        let stream = try await playOut(texts, options: rising)
        let switches = stream.events.all.compactMap { event -> (Int64, Bool)? in
            guard case .variantSwitched(let change, let succeeded) = event.kind else { return nil }
            return (change.to.peakBitRate.bitsPerSecond, succeeded)
        }
        #expect(switches.contains { $0 == (900_000, false) })
        let starts = stream.events.all.compactMap { event -> VariantSwitch? in
            if case .variantSwitchStarted(let change) = event.kind { change } else { nil }
        }
        // What was never played is nothing to come from.
        #expect(starts.allSatisfy { $0.from?.peakBitRate.bitsPerSecond != 900_000 })
    }

    @Test(arguments: [true, false])
    func thePlaylistOfAnotherVariantIsWaitedForWithoutAStall(isThere: Bool) async throws {
        var texts = Self.texts(
            """
            #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.42c01e"
            v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.42c01e"
            w.m3u8
            """,
            ["v", "w"],
            count: 12
        )
        if !isThere { texts[Self.origin + "w.m3u8"] = nil }
        let stream = PlayedStream(texts, options: rising, slow: ("w.m3u8", .seconds(15)))
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.expect(\.hasPlayedToEnd)
        }
        #expect(!stream.events.all.contains { $0.kind == .stalled })
        #expect(asked(stream, "v").count > 2)
        #expect(asked(stream, "v").count + asked(stream, "w").count == 12)
        #expect(asked(stream, "w").isEmpty != isThere)
    }

    // MARK: Sound

    @Test func soundAloneIsFetchedOnceThoughItIsAGroupToo() async throws {
        let stream = try await playOut(
            Self.texts(
                """
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="s.m3u8"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",AUTOSELECT=YES,URI="k.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2",AUDIO="a"
                s.m3u8
                """,
                ["s", "k"]
            )
        )
        #expect(stream.engine.snapshot.hasPlayedToEnd && asked(stream, "s").count == 6)
    }

    @Test func anotherLanguageOfSoundAloneTakesItsPlace() async throws {
        let texts = Self.texts(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="s.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",AUTOSELECT=YES,URI="k.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2",AUDIO="a"
            s.m3u8
            """,
            ["s", "k"],
            count: 12
        )
        let stream = PlayedStream(texts)
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(20))
            let option = engine.snapshot.presentation?.group(.audio)?.options.first { $0.language == "ko" }
            #expect(option != nil)
            await engine.select(option, for: .audio)
            try await stream.expect(\.hasPlayedToEnd)
        }
        #expect(asked(stream, "k").last?.hasSuffix("k11.ts") == true)
        #expect(asked(stream, "s").allSatisfy { !$0.hasSuffix("s11.ts") })
    }

    @Test func aLanguageThatIsAskedForIsPlayedThoughItMayNotBeTakenUnasked() async throws {
        var options = StreamingOptions()
        options.selectionRules.audioLanguages = ["fr"]
        let texts = Self.texts(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="s.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="French",LANGUAGE="fr",URI="k.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=640000,CODECS="avc1.42c01e,mp4a.40.2",AUDIO="a"
            v.m3u8
            """,
            ["s", "k", "v"]
        )
        #expect(asked(try await playOut(texts, options: options), "k").isEmpty)
        options.selectionRules.areLanguagesAskedFor = true
        #expect(asked(try await playOut(texts, options: options), "k").count == 6)
    }

    @Test func picturesGoOnWhereNoSoundCanBeHad() async throws {
        var texts = Self.texts(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="s.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=640000,CODECS="avc1.42c01e,mp4a.40.2",AUDIO="a"
            v.m3u8
            """,
            ["s", "v"],
            count: 10
        )
        for index in 0..<10 { texts["\(Self.origin)s\(index).ts"] = nil }
        let stream = try await playOut(texts)
        #expect(stream.engine.snapshot.hasPlayedToEnd)
        #expect(stream.engine.snapshot.selection[.audio] == nil)
        #expect(
            stream.events.all.contains { event in
                guard case .selectionChanged(let change) = event.kind else { return false }
                return change.mediaType == .audio && change.option == nil && !change.isExplicit
            }
        )
    }

    @Test func theSameSoundIsFetchedFromAnotherGroup() async throws {
        var options = StreamingOptions()
        options.selector = .fixedLowest
        let texts = Self.texts(
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
        let stream = try await playOut(texts, options: options)
        #expect(stream.engine.snapshot.hasPlayedToEnd && asked(stream, "s").count == 6)
    }

    @Test(arguments: [true, false])
    func soundChangesBetweenPicturesAndItsOwnPlaylistWithoutAHole(endsApart: Bool) async throws {
        let texts = Self.texts(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="s.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="m",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES
            #EXT-X-STREAM-INF:BANDWIDTH=640000,CODECS="avc1.42c01e,mp4a.40.2",RESOLUTION=640x360,AUDIO="m"
            m.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=940000,CODECS="avc1.42c01e,mp4a.40.2",RESOLUTION=1280x720,AUDIO="a"
            v.m3u8
            """,
            ["s", "m", "v"],
            count: 20
        )
        var options = StreamingOptions()
        options.selector = endsApart ? .fixedLowest : .fixedHighest
        let stream = PlayedStream(texts, options: options)
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(9))
            await engine.update { $0.selector = endsApart ? .fixedHighest : .fixedLowest }
            try await stream.expect(\.hasPlayedToEnd)
        }
        #expect(!stream.events.all.contains { $0.kind == .stalled })
        // Each moment has its sound once, from one of the two.
        let apart = asked(stream, "s").compactMap { Int($0.dropFirst(Self.origin.count + 1).dropLast(3)) }
        let muxed = asked(stream, "m").compactMap { Int($0.dropFirst(Self.origin.count + 1).dropLast(3)) }
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

    @Test func anotherLanguageIsFetchedFromThePlayHeadOnAndNothingStops() async throws {
        let stream = PlayedStream(Self.texts(Self.apartAndMuxed, ["m", "f"], count: 20))
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(20))
            await select("fr", engine)
            try await stream.simulation.sleep(for: .seconds(20))
            await select("en", engine)
            try await stream.expect(\.hasPlayedToEnd)
        }
        #expect(!stream.events.all.contains { $0.kind == .stalled })
        // French from where it was asked for, and English again from where that was.
        #expect(asked(stream, "f").first?.hasSuffix("f3.ts") == true)
        let pictures = asked(stream, "m").compactMap { Int($0.dropFirst(Self.origin.count + 1).dropLast(3)) }
        #expect(pictures.count { $0 == 6 } == 2, "\(pictures)")
    }

    @Test func aKeyThatMayNotBeHadIsForgottenWithItsLanguage() async throws {
        var texts = Self.texts(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="French",LANGUAGE="fr",DEFAULT=YES,AUTOSELECT=YES,URI="f.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",AUTOSELECT=YES,URI="s.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=640000,CODECS="avc1.42c01e,mp4a.40.2",AUDIO="a"
            v.m3u8
            """,
            ["v", "f", "s"],
            count: 20
        )
        texts[Self.origin + "f.m3u8"] = SampleStream.media("f", count: 20)
            .replacing("#EXTINF:6,\nf4.ts", with: "#EXT-X-KEY:METHOD=AES-128,URI=\"key\"\n#EXTINF:6,\nf4.ts")
        let refusal = TransportError(.status, "the server answered 403", status: 403)
        let stream = PlayedStream(texts, failing: [Self.origin + "key": refusal])
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(10))
            #expect(engine.snapshot.status == .readyToPlay)
            await select("en", engine)
            try await stream.expect { $0.hasPlayedToEnd || $0.status == .failed }
            #expect(engine.snapshot.hasPlayedToEnd)
        }
    }

    @Test func soundThatEndsBeforeTheSwitchToItsPicturesIsNoLoop() async throws {
        var texts = Self.texts(
            """
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,URI="s.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="m",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES
            #EXT-X-STREAM-INF:BANDWIDTH=640000,CODECS="avc1.42c01e,mp4a.40.2",RESOLUTION=640x360,AUDIO="m"
            m.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=940000,CODECS="avc1.42c01e,mp4a.40.2",RESOLUTION=1280x720,AUDIO="a"
            v.m3u8
            """,
            ["m", "v"],
            count: 20
        )
        texts[Self.origin + "s.m3u8"] = SampleStream.media("s", count: 3)
        for index in 0..<3 { texts["\(Self.origin)s\(index).ts"] = "media" }
        for index in 5..<20 { texts["\(Self.origin)v\(index).ts"] = nil }
        var options = StreamingOptions()
        options.selector = .fixedHighest
        #expect(try await playOut(texts, options: options).engine.snapshot.hasPlayedToEnd)
    }

    @Test func picturesThatJoinSoundAloneStopNothing() async throws {
        let texts = Self.texts(
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
        options.selector = .fixedLowest
        let stream = PlayedStream(texts, options: options)
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(15))
            await engine.update { $0.selector = .fixedHighest }
            try await stream.expect(\.hasPlayedToEnd)
        }
        #expect(!stream.events.all.contains { $0.kind == .stalled })
        #expect(asked(stream, "v").count > 5)
        let sound = asked(stream, "s")
        #expect(Set(sound).count == sound.count, "\(sound)")
    }

    // MARK: Ends

    @Test func anEmptyFilmFailsAtOnce() async throws {
        let stream = try await playOut([
            PlayedStream.address: "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-ENDLIST\n"
        ])
        #expect(stream.engine.snapshot.error?.code == .unreadablePlaylist)
        #expect(stream.simulation.now < .seconds(2))
    }

    @Test func anEmptyVariantIsPassedOver() async throws {
        var texts = Self.texts(
            "#EXT-X-STREAM-INF:BANDWIDTH=500000\ne.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=900000\nv.m3u8\n",
            ["v"]
        )
        texts[Self.origin + "e.m3u8"] = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-ENDLIST\n"
        #expect(try await playOut(texts).engine.snapshot.hasPlayedToEnd)
    }

    @Test(arguments: [0, 6]) func anEndBeforeTheStartIsTheEnd(end: Int64) async throws {
        var options = StreamingOptions()
        options.forwardPlaybackEndTime = MediaTime(seconds: end)
        var texts = Self.texts("", ["v"])
        texts[PlayedStream.address] = SampleStream.media("v", count: 6)
            .replacing("#EXTM3U\n", with: "#EXTM3U\n#EXT-X-START:TIME-OFFSET=12\n")
        let stream = try await playOut(texts, options: options)
        #expect(stream.engine.snapshot.hasPlayedToEnd)
        #expect(stream.engine.snapshot.position == MediaTime(seconds: end))
    }

    @Test func aSeekBehindTheEndLandsThere() async throws {
        var options = StreamingOptions()
        options.forwardPlaybackEndTime = MediaTime(seconds: 6)
        let stream = PlayedStream(SampleStream.film(), options: options)
        try await stream.run { engine in
            try await stream.expect { $0.status == .readyToPlay }
            let result = await engine.seek(to: MediaTime(seconds: 40), tolerance: .exact)
            #expect(result == SeekResult(isFinished: true, landed: MediaTime(seconds: 6)))
        }
    }

    @Test func whatIsBufferedIsPlayedBeforeItFails() async throws {
        var texts = Self.texts("", ["v"], count: 16)
        texts[PlayedStream.address] = SampleStream.media("v", count: 16, duration: 2)
        for index in 6..<16 { texts["\(Self.origin)v\(index).ts"] = nil }
        let stream = try await playOut(texts)
        #expect(stream.engine.snapshot.error != nil)
        // Four segments are left out before it is given up.
        #expect(stream.engine.snapshot.position >= MediaTime(seconds: 12))
        #expect(stream.simulation.now >= .seconds(12))
    }

    @Test func aSeekTriesAgainWhatWasGivenUp() async throws {
        var texts = Self.texts("", ["v"], count: 40)
        texts[PlayedStream.address] = SampleStream.media("v", count: 40, duration: 2)
        for index in 6..<16 { texts["\(Self.origin)v\(index).ts"] = nil }
        let stream = PlayedStream(texts)
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(5))
            let result = await engine.seek(to: MediaTime(seconds: 60), tolerance: .exact)
            #expect(result.isFinished)
            try await stream.expect(\.hasPlayedToEnd)
        }
    }

    @Test func nothingIsReadyThatCouldNotBeLoaded() async throws {
        var texts = Self.texts("", ["v"])
        texts[PlayedStream.address] = SampleStream.media("v", count: 6)
            .replacing("#EXTINF", with: "#EXT-X-MAP:URI=\"gone.mp4\"\n#EXTINF", maxReplacements: 1)
        let stream = try await playOut(texts)
        #expect(stream.engine.snapshot.status == .failed)
        #expect(!stream.events.all.contains { $0.kind == .statusChanged(.readyToPlay) })
    }

    @Test func variantsWhoseBordersDifferByAHairAreFetchedOnce() async throws {
        func media(_ name: String, _ duration: String) -> String {
            let segments = (0..<30).map { "#EXTINF:\(duration),\n\(name)\($0).ts\n" }.joined()
            return "#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(segments)#EXT-X-ENDLIST\n"
        }
        var texts = Self.texts(
            """
            #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.42c01e"
            v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.42c01e"
            w.m3u8
            """,
            ["v", "w"],
            count: 30
        )
        texts[Self.origin + "v.m3u8"] = media("v", "6.0")
        texts[Self.origin + "w.m3u8"] = media("w", "6.01")
        var options = StreamingOptions()
        options.selector = .fixedLowest
        let stream = PlayedStream(texts, options: options)
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(20))
            let variants = engine.snapshot.presentation?.variants ?? []
            let high = try #require(variants.first { $0.peakBitRate?.bitsPerSecond == 900_000 })
            await engine.update {
                $0.pinning = .nextSegment
                $0.pinnedVariant = high.id.text
            }
            try await stream.simulation.sleep(for: .seconds(5))
            await engine.setRate(0)
            try await stream.simulation.sleep(for: .seconds(60))
        }
        let fetched = asked(stream, "w")
        #expect(Set(fetched).count == fetched.count && fetched.count < 12, "\(fetched)")
    }

    @Test func aFullBufferIsEnough() async throws {
        // Less than the network carries is asked for, and more than that is never buffered.
        var texts = Self.texts("", ["v"], count: 10)
        texts[PlayedStream.address] = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=9000000\nv.m3u8\n"
        texts[Self.origin + "v.m3u8"] = SampleStream.media("v", count: 10, duration: 2)
        var options = StreamingOptions()
        options.preferredForwardBufferDuration = .seconds(2)
        options.initialThroughput = BitRate(bitsPerSecond: 6_300_000)
        let stream = try await playOut(texts, options: options)
        #expect(stream.engine.snapshot.hasPlayedToEnd)
    }

    @Test func seeksBackLeaveNoFullMemory() async throws {
        var options = StreamingOptions()
        options.bufferByteLimit = ByteCount(150)
        let texts = Self.texts("", ["v"], count: 60).merging(
            [PlayedStream.address: SampleStream.media("v", count: 60)]
        ) { $1 }
        let stream = PlayedStream(texts, options: options)
        try await stream.run { engine in
            await engine.setRate(1)
            for target in [300, 240, 180, 120, 60, 0] as [Int64] {
                _ = await engine.seek(to: MediaTime(seconds: target), tolerance: .exact)
                try await stream.simulation.sleep(for: .seconds(10))
            }
            try await stream.expect(\.hasPlayedToEnd)
        }
        #expect(!stream.events.all.contains { $0.kind == .stalled })
    }

    @Test(arguments: [4, 6, 7]) func gapsAtTheBeginningArePassed(duration: Int) async throws {
        var texts = Self.texts("", ["v"], count: 30)
        let gaps = (0..<20).map { "#EXT-X-GAP\n#EXTINF:\(duration),\ngap\($0).ts\n" }.joined()
        let media = (0..<6).map { "#EXTINF:\(duration),\nv\($0).ts\n" }.joined()
        texts[PlayedStream.address] = "#EXTM3U\n#EXT-X-TARGETDURATION:\(duration)\n\(gaps)\(media)#EXT-X-ENDLIST\n"
        #expect(try await playOut(texts).engine.snapshot.hasPlayedToEnd)
    }

    @Test func triesBeforeAnythingOpensAreToldToo() async throws {
        let lost = TransportError(.connectionLost, "the connection broke")
        let stream = PlayedStream([:], failing: [PlayedStream.address: lost])
        try await stream.run { _ in
            try await stream.expect { $0.status == .failed }
            try await stream.simulation.sleep(for: .seconds(1))
        }
        let requests = stream.events.all.count { event in
            if case .resourceRequest = event.kind { true } else { false }
        }
        #expect(requests == 4)
    }

    @Test func nothingPlaysTwiceOverASlowLinkThatFellBehind() async throws {
        // A switch down does not wait for what it is to replace.
        let texts = Self.texts(
            """
            #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.42c01e"
            v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.42c01e"
            w.m3u8
            """,
            ["v", "w"],
            count: 12
        )
        var options = StreamingOptions()
        options.selector = .fixedHighest
        let stream = PlayedStream(texts, options: options, slow: ("v.m3u8", .seconds(40)))
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(5))
            await engine.update { $0.selector = .fixedLowest }
            try await stream.expect(\.hasPlayedToEnd)
        }
        let numbers = (asked(stream, "v") + asked(stream, "w")).compactMap {
            Int($0.dropFirst(Self.origin.count + 1).dropLast(3))
        }
        #expect(numbers.count == 12 && Set(numbers).count == 12)
    }

    @Test func aLoadedRangeHasAHoleWhereNothingIs() async throws {
        var texts = Self.texts("", ["v"])
        texts[PlayedStream.address] = SampleStream.media("v", count: 6)
        texts[Self.origin + "v1.ts"] = nil
        let stream = PlayedStream(texts)
        try await stream.run { _ in
            try await stream.expect { $0.loadedTimeRanges.ranges.count == 2 }
        }
        let ranges = stream.engine.snapshot.loadedTimeRanges.ranges
        #expect(ranges.first == MediaTimeRange(start: .zero, duration: MediaTime(seconds: 6)))
        #expect(ranges.last?.start == MediaTime(seconds: 12))
    }

    // MARK: Windows that have ended

    @Test func endedWindowsLieWhereTheirDatesAre() async throws {
        func window(_ name: String, first: Int) -> String {
            let segments = (first..<(first + 12)).map { number in
                "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:0\(number * 2 / 60):\(number * 2 % 60 < 10 ? "0" : "")"
                    + "\(number * 2 % 60)Z\n#EXTINF:2,\n\(name)\(number).ts\n"
            }
            let head = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(first * 7)\n"
            return head + segments.joined() + "#EXT-X-ENDLIST\n"
        }
        var texts = Self.texts(
            "#EXT-X-STREAM-INF:BANDWIDTH=500000\na.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=900000\nb.m3u8\n",
            []
        )
        texts[Self.origin + "a.m3u8"] = window("a", first: 10)
        texts[Self.origin + "b.m3u8"] = window("b", first: 12)
        for number in 10..<24 {
            for name in ["a", "b"] { texts["\(Self.origin)\(name)\(number).ts"] = "media" }
        }
        let stream = try await playOut(texts, options: rising)
        let numbers = stream.transport.requestedAddresses.filter { $0.hasSuffix(".ts") }
            .compactMap { Int($0.dropFirst(Self.origin.count + 1).dropLast(3)) }
        #expect(asked(stream, "a").isEmpty == false && asked(stream, "b").isEmpty == false)
        #expect(Array(numbers.prefix(12)) == Array(10..<22), "\(numbers)")
    }
}

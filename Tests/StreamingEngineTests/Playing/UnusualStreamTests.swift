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

/// Tests of unusual but permitted streams.
@Suite struct UnusualStreamTests {
    /// Options that start with the first variant and then switch to the highest one.
    private var rising: StreamingOptions {
        var options = StreamingOptions()
        options.startsOnFirstEligibleVariant = true
        options.variantSelection = VariantSelection(.fixedHighest)
        return options
    }

    private static let twoQualities = """
        #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.42c01e"
        v.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.42c01e"
        w.m3u8
        """

    // MARK: Extreme numbers

    /// Spellings of numbers near the limits of 64-bit, 32-bit and floating-point arithmetic.
    static let extremeNumbers = [
        "0", "1", "-1", "2147483648", "4294967296", "9007199254740993", "1125899906843", "1000000000000000000",
        "9223372036854775807", "9223372036854775808", "18446744073709551615", "1e300", "NaN", "inf",
    ]

    @Test(arguments: extremeNumbers)
    func aStreamWithExtremeBitRatesIsPlayed(number: String) async throws {
        var texts = TextStreamPlayback.texts(Self.twoQualities, ["v", "w"])
        for name in ["v", "w"] {
            var text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:6,\n\(name)0.ts\n"
            text += "#EXT-X-BITRATE:\(number)\n#EXTINF:900000,\n\(name)1.ts\n#EXTINF:6,\n\(name)2.ts\n"
            texts[TextStreamPlayback.origin + name + ".m3u8"] = text + "#EXT-X-ENDLIST\n"
        }
        let stream = TextStreamPlayback(texts)
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.expect { $0.loadedTimeRanges.contains(MediaTime(seconds: 600)) }
            #expect(engine.snapshot.status == .readyToPlay)
        }
    }

    /// Byte ranges, sequence numbers and start positions, which decide whether a segment is found, have tests of their own.
    @Test(arguments: extremeNumbers)
    func aStreamWithExtremeNumbersInItsTagsIsPlayed(number: String) async throws {
        var options = StreamingOptions()
        options.startsOnFirstEligibleVariant = true
        let multivariant = """
            #EXT-X-STREAM-INF:BANDWIDTH=\(number),AVERAGE-BANDWIDTH=\(number),FRAME-RATE=\(number),RESOLUTION=\(number)x1,SCORE=\(number)
            v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=900000,AVERAGE-BANDWIDTH=\(number)
            w.m3u8
            """
        var texts = TextStreamPlayback.texts(multivariant, ["v", "w"])
        for name in ["v", "w"] {
            var text = "#EXTM3U\n#EXT-X-VERSION:\(number)\n#EXT-X-TARGETDURATION:\(number)\n"
            text += "#EXT-X-DISCONTINUITY-SEQUENCE:\(number)\n#EXT-X-BITRATE:\(number)\n"
            text += "#EXT-X-SERVER-CONTROL:HOLD-BACK=\(number),CAN-SKIP-UNTIL=\(number)\n"
            text += "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n"
            text += "#EXT-X-DATERANGE:ID=\"a\",START-DATE=\"2026-01-01T00:00:00Z\",DURATION=\(number)\n"
            for index in 0..<4 {
                text += "#EXTINF:\(index == 0 ? "6" : number),\n\(name)\(index).ts\n"
            }
            texts[TextStreamPlayback.origin + name + ".m3u8"] = text + "#EXT-X-ENDLIST\n"
        }
        let stream = TextStreamPlayback(texts, options: options)
        try await stream.run { engine in
            await engine.setRate(1)
            for _ in 0..<200 where engine.snapshot.status != .failed && !engine.snapshot.hasPlayedToEnd {
                try await stream.simulation.sleep(for: .seconds(1))
            }
        }
        let snapshot = stream.engine.snapshot
        #expect(snapshot.status == .readyToPlay && snapshot.duration != nil, "\(String(describing: snapshot.error))")
    }

    /// Returns a stream with two variants whose media playlists are changed.
    private static func changedTexts(
        count: Int,
        _ change: (_ media: String) -> String
    ) -> [String: String] {
        var texts = TextStreamPlayback.texts(twoQualities, ["v", "w"], count: count)
        for name in ["v", "w"] {
            texts[TextStreamPlayback.origin + name + ".m3u8"] = change(SampleStream.media(name, count: count))
        }
        return texts
    }

    /// A range is ignored if one of its numbers, or its end, exceeds 63 bits.
    ///
    /// No resource has more than 20 bytes.
    @Test(arguments: extremeNumbers)
    func byteRangesAreIgnoredOrBeyondTheEndOfTheResource(number: String) async throws {
        let texts = Self.changedTexts(count: 12) { media in
            media.replacing("#EXTINF:6,\n", with: "#EXTINF:6,\n#EXT-X-BYTERANGE:\(number)@\(number)\n")
        }
        let snapshot = try await TextStreamPlayback.playedOut(texts).engine.snapshot
        let isBeyond = Int64(number).flatMap { ByteRange(start: $0, length: $0) }.map { $0.end > 20 } ?? false
        #expect((snapshot.status == .failed) == isBeyond, "\(String(describing: snapshot.error))")
        #expect(snapshot.hasPlayedToEnd != isBeyond)
    }

    /// The numbers of segments after the highest media sequence number are not used.
    @Test(arguments: extremeNumbers)
    func extremeSequenceNumbersAndStartPositionsArePlayed(number: String) async throws {
        let texts = Self.changedTexts(count: 6) { media in
            let tags = "#EXT-X-MEDIA-SEQUENCE:\(number)\n#EXT-X-START:TIME-OFFSET=\(number)\n"
            return media.replacing("#EXTM3U\n", with: "#EXTM3U\n\(tags)")
        }
        let snapshot = try await TextStreamPlayback.playedOut(texts).engine.snapshot
        #expect(snapshot.status == .readyToPlay, "\(String(describing: snapshot.error))")
        #expect(snapshot.hasPlayedToEnd)
    }

    // MARK: Ladders

    @Test func videoIsPlayedIfMostVariantsAreAudioOnly() async throws {
        var options = StreamingOptions()
        options.initialThroughput = BitRate(bitsPerSecond: 50_000_000)
        let stream = try await TextStreamPlayback.playedOut(
            TextStreamPlayback.texts(
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
        #expect(stream.asked("v").count == 6 && stream.asked("s").isEmpty && stream.asked("t").isEmpty)
    }

    @Test func aVariantWithoutCodecsBelongsToTheLadder() async throws {
        var options = StreamingOptions()
        options.variantSelection = VariantSelection(.fixedHighest)
        let stream = try await TextStreamPlayback.playedOut(
            TextStreamPlayback.texts(
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
        #expect(stream.asked("n").count >= 5)
    }

    @Test func aVariantWithOtherCodecsIsPlayedIfTheLadderIsUnavailable() async throws {
        let texts = TextStreamPlayback.texts(
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
        let stream = try await TextStreamPlayback.playedOut(texts)
        #expect(stream.engine.snapshot.hasPlayedToEnd && stream.asked("h").count == 6)
        // No switch is reported as failed.
        let failed = stream.events.all.count { event in
            if case .variantSwitched(_, succeeded: false) = event.kind { true } else { false }
        }
        #expect(failed == 0, "nothing was played before")
    }

    @Test func aVariantIsExcludedAfterTwoMissingSegments() async throws {
        var options = StreamingOptions()
        options.variantSelection = VariantSelection(.fixedHighest)
        var texts = TextStreamPlayback.texts(
            Self.twoQualities,
            ["v", "w"]
        )
        for index in 0..<6 { texts["\(TextStreamPlayback.origin)w\(index).ts"] = nil }
        let stream = try await TextStreamPlayback.playedOut(texts, options: options)
        #expect(stream.engine.snapshot.hasPlayedToEnd && stream.asked("v").count == 6)
        #expect(stream.asked("w").count == 2)
    }

    @Test func aSwitchToAMissingPlaylistIsReportedAsFailed() async throws {
        let texts = TextStreamPlayback.texts(
            """
            #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.42c01e"
            v.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.42c01e"
            gone.m3u8
            """,
            ["v"],
            count: 12
        )
        let stream = try await TextStreamPlayback.playedOut(texts, options: rising)
        let switches = stream.events.all.compactMap { event -> (Int64, Bool)? in
            guard case .variantSwitched(let change, let succeeded) = event.kind else { return nil }
            return (change.to.peakBitRate.bitsPerSecond, succeeded)
        }
        #expect(switches.contains { $0 == (900_000, false) })
        let starts = stream.events.all.compactMap { event -> VariantSwitch? in
            if case .variantSwitchStarted(let change) = event.kind { change } else { nil }
        }
        // No switch starts from a variant that was never played.
        #expect(starts.allSatisfy { $0.from?.peakBitRate.bitsPerSecond != 900_000 })
    }

    @Test(arguments: [true, false])
    func aSlowPlaylistOfAnotherVariantCausesNoStall(isThere: Bool) async throws {
        var texts = TextStreamPlayback.texts(
            Self.twoQualities,
            ["v", "w"],
            count: 12
        )
        if !isThere { texts[TextStreamPlayback.origin + "w.m3u8"] = nil }
        let stream = TextStreamPlayback(texts, options: rising, slow: ("w.m3u8", .seconds(15)))
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.expect(\.hasPlayedToEnd)
        }
        #expect(!stream.events.all.contains { $0.kind == .stalled })
        #expect(stream.asked("v").count > 2)
        #expect(stream.asked("v").count + stream.asked("w").count == 12)
        #expect(stream.asked("w").isEmpty != isThere)
    }

    // MARK: Ends

    @Test func anEmptyPlaylistOnDemandFailsAtOnce() async throws {
        let stream = try await TextStreamPlayback.playedOut([
            TextStreamPlayback.address: "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-ENDLIST\n"
        ])
        #expect(stream.engine.snapshot.error?.code == .unreadablePlaylist)
        #expect(stream.simulation.now < .seconds(2))
    }

    /// Such a playlist is not that of a live stream that begins later, which has a target duration.
    @Test(arguments: ["", "#EXT-X-VERSION:3\n#EXT-X-INDEPENDENT-SEGMENTS\n", "a.ts\n"])
    func aPlaylistWithoutTagsOfItsKindFailsAtOnce(lines: String) async throws {
        let stream = try await TextStreamPlayback.playedOut([TextStreamPlayback.address: "#EXTM3U\n\(lines)"])
        let error = try #require(stream.engine.snapshot.error)
        #expect(error.code == .unreadablePlaylist && error.message.contains("has no EXT-X-TARGETDURATION"), "\(error)")
        #expect(stream.simulation.now < .seconds(2))
    }

    @Test func anEmptyVariantIsNotPlayed() async throws {
        var texts = TextStreamPlayback.texts(
            "#EXT-X-STREAM-INF:BANDWIDTH=500000\ne.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=900000\nv.m3u8\n",
            ["v"]
        )
        texts[TextStreamPlayback.origin + "e.m3u8"] = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-ENDLIST\n"
        #expect(try await TextStreamPlayback.playedOut(texts).engine.snapshot.hasPlayedToEnd)
    }

    @Test(arguments: [0, 6]) func playbackEndsAtOnceIfItsEndIsBeforeItsStart(end: Int64) async throws {
        var options = StreamingOptions()
        options.forwardPlaybackEndTime = MediaTime(seconds: end)
        var texts = TextStreamPlayback.texts("", ["v"])
        texts[TextStreamPlayback.address] = SampleStream.media("v", count: 6)
            .replacing("#EXTM3U\n", with: "#EXTM3U\n#EXT-X-START:TIME-OFFSET=12\n")
        let stream = try await TextStreamPlayback.playedOut(texts, options: options)
        #expect(stream.engine.snapshot.hasPlayedToEnd)
        #expect(stream.engine.snapshot.position == MediaTime(seconds: end))
    }

    @Test func aSeekAfterTheEndOfPlaybackReachesTheEnd() async throws {
        var options = StreamingOptions()
        options.forwardPlaybackEndTime = MediaTime(seconds: 6)
        let stream = TextStreamPlayback(SampleStream.film(), options: options)
        try await stream.run { engine in
            try await stream.expect { $0.status == .readyToPlay }
            let result = await engine.seek(to: MediaTime(seconds: 40), tolerance: .exact)
            #expect(result == SeekResult(isFinished: true, position: MediaTime(seconds: 6)))
        }
    }

    @Test func theBufferIsPlayedBeforePlaybackFails() async throws {
        var texts = TextStreamPlayback.texts("", ["v"], count: 16)
        texts[TextStreamPlayback.address] = SampleStream.media("v", count: 16, duration: 2)
        for index in 6..<16 { texts["\(TextStreamPlayback.origin)v\(index).ts"] = nil }
        let stream = try await TextStreamPlayback.playedOut(texts)
        #expect(stream.engine.snapshot.error != nil)
        // Four segments are skipped before playback fails.
        #expect(stream.engine.snapshot.position >= MediaTime(seconds: 12))
        #expect(stream.simulation.now >= .seconds(12))
    }

    @Test func aSeekRetriesAFailedTrack() async throws {
        var texts = TextStreamPlayback.texts("", ["v"], count: 40)
        texts[TextStreamPlayback.address] = SampleStream.media("v", count: 40, duration: 2)
        for index in 6..<16 { texts["\(TextStreamPlayback.origin)v\(index).ts"] = nil }
        let stream = TextStreamPlayback(texts)
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(5))
            let result = await engine.seek(to: MediaTime(seconds: 60), tolerance: .exact)
            #expect(result.isFinished)
            try await stream.expect(\.hasPlayedToEnd)
        }
    }

    @Test func anItemWhoseMediaCannotBeLoadedIsNeverReady() async throws {
        var texts = TextStreamPlayback.texts("", ["v"])
        texts[TextStreamPlayback.address] = SampleStream.media("v", count: 6)
            .replacing("#EXTINF", with: "#EXT-X-MAP:URI=\"gone.mp4\"\n#EXTINF", maxReplacements: 1)
        let stream = try await TextStreamPlayback.playedOut(texts)
        #expect(stream.engine.snapshot.status == .failed)
        #expect(!stream.events.all.contains { $0.kind == .statusChanged(.readyToPlay) })
    }

    @Test func segmentsWithSlightlyDifferentBoundariesAreFetchedOnce() async throws {
        func media(_ name: String, _ duration: String) -> String {
            let segments = (0..<30).map { "#EXTINF:\(duration),\n\(name)\($0).ts\n" }.joined()
            return "#EXTM3U\n#EXT-X-TARGETDURATION:6\n\(segments)#EXT-X-ENDLIST\n"
        }
        var texts = TextStreamPlayback.texts(
            Self.twoQualities,
            ["v", "w"],
            count: 30
        )
        texts[TextStreamPlayback.origin + "v.m3u8"] = media("v", "6.0")
        texts[TextStreamPlayback.origin + "w.m3u8"] = media("w", "6.01")
        var options = StreamingOptions()
        options.variantSelection = VariantSelection(.fixedLowest)
        let stream = TextStreamPlayback(texts, options: options)
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
        let fetched = stream.asked("w")
        #expect(Set(fetched).count == fetched.count && fetched.count < 12, "\(fetched)")
    }

    @Test func aFullBufferSufficesToStart() async throws {
        // The requested buffer is too small for the throughput, and the engine buffers no more than that.
        var texts = TextStreamPlayback.texts("", ["v"], count: 10)
        texts[TextStreamPlayback.address] = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=9000000\nv.m3u8\n"
        texts[TextStreamPlayback.origin + "v.m3u8"] = SampleStream.media("v", count: 10, duration: 2)
        var options = StreamingOptions()
        options.preferredForwardBufferDuration = .seconds(2)
        options.initialThroughput = BitRate(bitsPerSecond: 6_300_000)
        let stream = try await TextStreamPlayback.playedOut(texts, options: options)
        #expect(stream.engine.snapshot.hasPlayedToEnd)
    }

    @Test func backwardSeeksDoNotFillTheMemory() async throws {
        var options = StreamingOptions()
        options.bufferByteLimit = ByteCount(150)
        let texts = TextStreamPlayback.texts("", ["v"], count: 60).merging(
            [TextStreamPlayback.address: SampleStream.media("v", count: 60)]
        ) { $1 }
        let stream = TextStreamPlayback(texts, options: options)
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

    @Test(arguments: [4, 6, 7]) func gapsAtTheBeginningAreSkipped(duration: Int) async throws {
        var texts = TextStreamPlayback.texts("", ["v"], count: 30)
        let gaps = (0..<20).map { "#EXT-X-GAP\n#EXTINF:\(duration),\ngap\($0).ts\n" }.joined()
        let media = (0..<6).map { "#EXTINF:\(duration),\nv\($0).ts\n" }.joined()
        texts[TextStreamPlayback.address] =
            "#EXTM3U\n#EXT-X-TARGETDURATION:\(duration)\n\(gaps)\(media)#EXT-X-ENDLIST\n"
        #expect(try await TextStreamPlayback.playedOut(texts).engine.snapshot.hasPlayedToEnd)
    }

    @Test func failedAttemptsBeforeTheItemOpensAreReported() async throws {
        let lost = TransportError(.connectionLost, "the connection broke")
        let stream = TextStreamPlayback([:], failing: [TextStreamPlayback.address: lost])
        try await stream.run { _ in
            try await stream.expect { $0.status == .failed }
            try await stream.simulation.sleep(for: .seconds(1))
        }
        let requests = stream.events.all.count { event in
            if case .resourceRequest = event.kind { true } else { false }
        }
        #expect(requests == 4)
    }

    @Test func noSegmentIsFetchedTwiceDuringASwitchOverASlowLink() async throws {
        // A switch to a lower variant does not wait for the load that it replaces.
        let texts = TextStreamPlayback.texts(
            Self.twoQualities,
            ["v", "w"],
            count: 12
        )
        var options = StreamingOptions()
        options.variantSelection = VariantSelection(.fixedHighest)
        let stream = TextStreamPlayback(texts, options: options, slow: ("v.m3u8", .seconds(40)))
        try await stream.run { engine in
            await engine.setRate(1)
            try await stream.simulation.sleep(for: .seconds(5))
            await engine.update { $0.variantSelection = VariantSelection(.fixedLowest) }
            try await stream.expect(\.hasPlayedToEnd)
        }
        let numbers = (stream.asked("v") + stream.asked("w")).compactMap {
            Int($0.dropFirst(TextStreamPlayback.origin.count + 1).dropLast(3))
        }
        #expect(numbers.count == 12 && Set(numbers).count == 12)
    }

    @Test func loadedRangesExcludeMissingSegments() async throws {
        var texts = TextStreamPlayback.texts("", ["v"])
        texts[TextStreamPlayback.address] = SampleStream.media("v", count: 6)
        texts[TextStreamPlayback.origin + "v1.ts"] = nil
        let stream = TextStreamPlayback(texts)
        try await stream.run { _ in
            try await stream.expect { $0.loadedTimeRanges.ranges.count == 2 }
        }
        let ranges = stream.engine.snapshot.loadedTimeRanges.ranges
        #expect(ranges.first == MediaTimeRange(start: .zero, duration: MediaTime(seconds: 6)))
        #expect(ranges.last?.start == MediaTime(seconds: 12))
    }

    // MARK: Windows that have ended

    @Test func endedWindowsAreAlignedByTheirDates() async throws {
        func window(_ name: String, first: Int) -> String {
            let segments = (first..<(first + 12)).map { number in
                "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:0\(number * 2 / 60):\(number * 2 % 60 < 10 ? "0" : "")"
                    + "\(number * 2 % 60)Z\n#EXTINF:2,\n\(name)\(number).ts\n"
            }
            let head = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(first * 7)\n"
            return head + segments.joined() + "#EXT-X-ENDLIST\n"
        }
        var texts = TextStreamPlayback.texts(
            "#EXT-X-STREAM-INF:BANDWIDTH=500000\na.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=900000\nb.m3u8\n",
            []
        )
        texts[TextStreamPlayback.origin + "a.m3u8"] = window("a", first: 10)
        texts[TextStreamPlayback.origin + "b.m3u8"] = window("b", first: 12)
        for number in 10..<24 {
            for name in ["a", "b"] { texts["\(TextStreamPlayback.origin)\(name)\(number).ts"] = "media" }
        }
        let stream = try await TextStreamPlayback.playedOut(texts, options: rising)
        let numbers = stream.transport.requestedAddresses.filter { $0.hasSuffix(".ts") }
            .compactMap { Int($0.dropFirst(TextStreamPlayback.origin.count + 1).dropLast(3)) }
        #expect(stream.asked("a").isEmpty == false && stream.asked("b").isEmpty == false)
        #expect(Array(numbers.prefix(12)) == Array(10..<22), "\(numbers)")
    }
}

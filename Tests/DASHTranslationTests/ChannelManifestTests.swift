import DASHManifest
import DASHTranslation
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

/// Writes the manifest of a simulated channel at several times, and reads it again.
struct ChannelManifestTests {
    private static let multivariant = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Ton <1> & mehr",LANGUAGE="de",DEFAULT=YES,CHANNELS="2",URI="a.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=640x360,FRAME-RATE=29.970,AUDIO="a"
        0.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=1280x720,FRAME-RATE=30,AUDIO="a"
        1.m3u8
        #EXT-X-STREAM-INF:BANDWIDTH=700000,CODECS="avc1.64001f,mp4a.40.2",RESOLUTION=640x480,AUDIO="a"
        2.m3u8

        """
    private static let start: MediaTime = 1_704_067_200
    private static let duration = MediaTime(value: 4_004, timescale: 1_000)
    /// The number of segments of each period; the loop begins again after them.
    private static let periodLength: Int64 = 2

    private static let video = TrackMedia(
        start: MediaTime(value: 14, timescale: 10),
        timescale: 90_000,
        hasVideo: true,
        codecs: ["avc1.64001f"],
        width: 640,
        height: 360
    )
    private static let audio = TrackMedia(
        start: MediaTime(value: 66_176, timescale: 48_000),
        timescale: 48_000,
        hasVideo: false,
        codecs: ["mp4a.40.2"],
        sampleRate: 48_000,
        channelCount: 2
    )

    private func runs(_ numbers: Range<Int64>, _ media: TrackMedia, _ name: String) -> [ChannelTrack.Run] {
        Dictionary(grouping: numbers) { $0 / Self.periodLength }.sorted { $0.key < $1.key }.map { number, members in
            ChannelTrack.Run(
                number: number,
                start: Self.duration * (number *| Self.periodLength),
                media: media,
                startNumber: (members.first ?? 0) % Self.periodLength + 1,
                initialization: "/\(name)/init.mp4?a=1&b=2",
                initializationRange: ByteRange(start: 0, length: 700),
                segments: members.map { member in
                    let position = member % Self.periodLength
                    return ChannelTrack.Segment(
                        address: "/\(name)/\(position).m4s?number=\(member)&x=\"",
                        byteRange: ByteRange(start: 1_000 *| position, length: 1_000),
                        time: Self.duration * position,
                        duration: Self.duration
                    )
                }
            )
        }
    }

    private func manifest(
        _ numbers: Range<Int64>,
        audio audioNumbers: Range<Int64>? = nil,
        isEnded: Bool = false
    ) throws -> ChannelManifest {
        let playlist = try MultivariantPlaylist(parsing: Array(Self.multivariant.utf8))
        let rendition = try #require(playlist.renditions.first)
        var tracks = [
            ChannelTrack(
                id: "a0",
                entry: .rendition(rendition),
                runs: runs(audioNumbers ?? numbers, Self.audio, "a")
            )
        ]
        for (index, variant) in playlist.variants.enumerated() {
            let runs = runs(numbers, Self.video, "v\(index)")
            tracks.append(ChannelTrack(id: "v\(index)", entry: .variant(variant), runs: runs))
        }
        let now = Self.start + Self.duration * numbers.upperBound
        return ChannelManifest(
            start: Self.start,
            date: now + MediaTime(value: 1, timescale: 2),
            lastChange: now,
            window: 24,
            targetDuration: 5,
            duration: isEnded ? Self.duration * numbers.upperBound : nil,
            tracks: tracks
        )
    }

    private func parse(_ manifest: ChannelManifest) throws -> MediaPresentation {
        let bytes = try #require(manifest.xml(limit: 1 << 20))
        return try MediaPresentation(
            parsing: bytes.span,
            address: ResourceAddress("https://example.test/play.mpd?url=x")
        )
    }

    /// The windows are before, at and after the end of a loop, and begin inside of runs.
    @Test func manifestsAreValidAtEachTime() throws {
        for end in Int64(1)...12 {
            let presentation = try parse(manifest(max(0, end - 5)..<end))
            let problems = presentation.validated().filter { $0.severity != .note }
            #expect(problems == [], "\(end)")
            #expect(presentation.kind == .dynamic)
            #expect(presentation.periods.allSatisfy { $0.adaptationSets.map(\.id) == ["1", "2", "3"] })
        }
    }

    /// Identifiers, and the times of segments on the timeline of the channel, stay the same when the manifest is loaded again.
    @Test func timesRemainWhileTheWindowMoves() throws {
        var known: [String: MediaTime] = [:]
        for end in Int64(1)...12 {
            let presentation = try parse(manifest(max(0, end - 5)..<end))
            for period in presentation.periods {
                let (id, start) = (try #require(period.id), try #require(period.start))
                for set in period.adaptationSets {
                    for representation in set.representations {
                        let addressing = SegmentAddressing(
                            of: representation,
                            in: set,
                            of: period,
                            in: presentation
                        )
                        var last: MediaTime?
                        for segment in (0..<addressing.count).compactMap({ addressing.segment(at: $0) }) {
                            #expect(last ?? segment.start == segment.start, "the timeline has no gaps")
                            last = segment.end
                            let name = "\(id) \(segment.resource.address.text)"
                            let time = start + segment.start
                            let earlier = known.updateValue(time, forKey: name)
                            #expect(earlier ?? time == time, "\(name)")
                        }
                        #expect(last != nil)
                    }
                }
            }
        }
        // Twelve segments of four tracks.
        #expect(known.count == 48)
    }

    /// The distance between tracks follows from their timestamps.
    @Test func tracksOfAPeriodHaveOneOrigin() throws {
        let bytes = try #require(manifest(3..<5).xml(limit: 1 << 20))
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains(#"<SegmentList timescale="90000" presentationTimeOffset="126000" startNumber="2">"#))
        #expect(text.contains(#"<SegmentList timescale="48000" presentationTimeOffset="67200" startNumber="2">"#))
        // The second segment of the run begins after the first one, which is no longer listed.
        #expect(text.contains(#"<S t="486360" d="360360"/>"#) && text.contains(#"<S t="258368" d="192192"/>"#))
        #expect(text.contains(#"<Period id="p1" start="PT8.008S">"#))
        #expect(text.contains(#"<Period id="p2" start="PT16.016S">"#))
        #expect(text.contains(#"<SegmentURL media="/v0/1.m4s?number=3&amp;x=&quot;" mediaRange="1000-1999"/>"#))
        #expect(text.contains(#"<Initialization sourceURL="/a/init.mp4?a=1&amp;b=2" range="0-699"/>"#))
        #expect(text.contains("<Label>Ton &lt;1&gt; &amp; mehr</Label>") && text.contains(#"frameRate="2997/100""#))
        #expect(text.contains(#"availabilityStartTime="2024-01-01T00:00:00.000Z""#))
        #expect(text.contains(#"minimumUpdatePeriod="PT2.5S""#) && !text.contains("mediaPresentationDuration"))
        #expect(text.contains(#"value="2024-01-01T00:00:20.520Z""#))
    }

    @Test func equalDurationsAreOneEntry() throws {
        let text = String(decoding: try #require(manifest(0..<2).xml(limit: 1 << 20)), as: UTF8.self)
        #expect(text.contains(#"<S t="126000" d="360360" r="1"/>"#))
    }

    @Test func gapsAreGapsOfTheTimeline() throws {
        var manifest = try manifest(0..<2)
        for index in manifest.tracks.indices {
            manifest.tracks[index].runs[0].segments[1].time = MediaTime(seconds: 8)
        }
        let text = String(decoding: try #require(manifest.xml(limit: 1 << 20)), as: UTF8.self)
        #expect(text.contains(#"<S t="126000" d="360360"/>"#) && text.contains(#"<S t="846000" d="360360"/>"#))
    }

    /// A player selects tracks when it first reads a period, and would have no audio if the audio were added later.
    @Test func periodBeginsOnceAllTracksHaveASegment() throws {
        #expect(try manifest(0..<5).periodNumbers == [0, 1, 2])
        #expect(try manifest(0..<5, audio: 0..<4).periodNumbers == [0, 1])
        #expect(try manifest(0..<5, audio: 2..<5).periodNumbers == [1, 2])
        #expect(try manifest(0..<2, audio: 2..<4).periodNumbers == [])
    }

    @Test func endedChannelHasADuration() throws {
        let presentation = try parse(manifest(0..<4, isEnded: true))
        #expect(presentation.validated().filter { $0.severity != .note } == [])
        #expect(presentation.mediaPresentationDuration == MediaTime(value: 16_016, timescale: 1_000))
        // The listed segments of an ended channel remain available.
        #expect(presentation.timeShiftBufferDepth == nil)
        #expect(try parse(manifest(0..<4)).timeShiftBufferDepth == MediaTime(seconds: 24))
    }

    /// Players do not switch between codecs within an adaptation set.
    @Test func renditionsWithOtherCodecsAreAdaptationSetsOfTheirOwn() throws {
        for (codecs, count) in [(["mp4a", "ac-3"], 4), (["mp4a", "mp4a"], 3)] {
            var manifest = try manifest(0..<4)
            let rendition = try #require(manifest.tracks.first)
            manifest.tracks.removeFirst()
            for (index, codec) in codecs.enumerated() {
                var track = rendition
                track.id = "a\(index)"
                track.audioCodec = codec
                manifest.tracks.append(track)
            }
            let presentation = try parse(manifest)
            #expect(presentation.validated().filter { $0.severity != .note } == [])
            let sets = try #require(presentation.periods.first).adaptationSets
            #expect(sets.count == count, "\(codecs)")
            #expect(sets.flatMap(\.representations).count == 5)
        }
    }

    /// XML cannot contain control characters, also not as references.
    @Test func textIsEscaped() throws {
        var manifest = try manifest(0..<2)
        for index in manifest.tracks.indices {
            manifest.tracks[index].runs[0].segments[0].address = "/<\"'&>\t\u{1}\u{FFFE}é\u{1F600}\r\n"
        }
        let text = String(decoding: try #require(manifest.xml(limit: 1 << 20)), as: UTF8.self)
        #expect(text.contains("media=\"/&lt;&quot;'&amp;&gt;&#9;é\u{1F600}&#13;&#10;\""), "\(text)")
    }

    @Test func manifestBeyondTheLimitIsNotWritten() throws {
        let manifest = try manifest(0..<4)
        let size = try #require(manifest.xml(limit: 1 << 20)).count
        #expect(manifest.xml(limit: size)?.count == size)
        #expect(manifest.xml(limit: size - 1) == nil && manifest.xml(limit: 0) == nil)
    }

    /// The player of the package plays all periods.
    @Test func manifestIsTranslatedToHLS() throws {
        let written = try manifest(3..<8)
        let result = try translate(parse(written), at: written.date)
        let video = try #require(result.playlists.first { $0.fileName.hasPrefix("video") })
        let playlist = try video.playlist
        #expect(playlist.segments.count == 5 && playlist.isLive)
        #expect(playlist.segments.count { $0.hasDiscontinuity } >= 2)
    }
}

import DASHTranslation
import MediaTiming
import Testing

/// Tests the properties that are read from small fragmented MP4 files.
@Suite struct TrackMediaFaultTests {
    /// The start is the earliest presentation time of the first fragment, with the edit list of the movie.
    @Test(
        arguments: [
            ([], 90_000, [], MediaTime(seconds: 1)),
            // The media time of an edit is removed, and the duration of an empty edit is added.
            ([(0, 9_000)], 90_000, [], MediaTime(value: 9, timescale: 10)),
            ([(2_000, -1)], 90_000, [], MediaTime(seconds: 1)),
            ([(2_000, -1), (0, 9_000)], 90_000, [], MediaTime(value: 29, timescale: 10)),
            ([(0, 180_000)], 90_000, [], MediaTime(seconds: -1)),
            // The second sample is presented first.
            ([], 90_000, [18_000, 0], MediaTime(value: 90_100, timescale: 90_000)),
            ([(0, 9_000)], 90_000, [9_000, 27_000], MediaTime(seconds: 1)),
        ] as [([(Int, Int)], Int, [Int], MediaTime)]
    )
    func startIsThePresentationTime(edits: [(Int, Int)], time: Int, offsets: [Int], expected: MediaTime) throws {
        let list = edits.map { (duration: $0.0, time: $0.1) }
        let media = try #require(
            TrackMedia(
                initialization: FragmentedMovie.initialization(.video, timescale: 90_000, edits: list),
                segment: FragmentedMovie.fragment(at: time, offsets: offsets)
            )
        )
        #expect(media.start == expected && media.timescale == 90_000)
    }

    @Test func propertiesAreThoseOfTheTrack() throws {
        let segment = FragmentedMovie.fragment(at: 500)
        let video = try #require(TrackMedia(initialization: FragmentedMovie.initialization(.video), segment: segment))
        #expect(video.hasVideo && video.width == 640 && video.height == 360)
        #expect(video.sampleRate == nil && video.channelCount == nil && video.codecs.count == 1)
        let audio = try #require(TrackMedia(initialization: FragmentedMovie.initialization(.audio), segment: segment))
        #expect(!audio.hasVideo && audio.width == nil && audio.height == nil)
        #expect(audio.sampleRate == 48_000 && audio.channelCount == 2 && audio.codecs.count == 1)
        #expect(audio.start == MediaTime(value: 1, timescale: 2))
    }

    /// The first fragment that has a time is that of the start.
    @Test func startIsThatOfTheFirstFragment() throws {
        let segment = FragmentedMovie.fragment(at: 500) + FragmentedMovie.fragment(at: 700)
        let media = TrackMedia(initialization: FragmentedMovie.initialization(.audio), segment: segment)
        #expect(media?.start == MediaTime(value: 1, timescale: 2))
    }

    @Test func mediaWithoutAMovieOrAFragmentIsNoTrack() {
        let movie = FragmentedMovie.initialization(.video)
        #expect(TrackMedia(initialization: [], segment: FragmentedMovie.fragment(at: 0)) == nil)
        #expect(TrackMedia(initialization: movie, segment: []) == nil)
    }

    @Test(arguments: [(-5, 1), (0, 1), (1, 1), (2, 2)] as [(Int64, Int64)])
    func timescaleIsPositive(declared: Int64, expected: Int64) {
        let media = TrackMedia(start: .zero, timescale: declared, hasVideo: false, codecs: [])
        #expect(media.timescale == expected)
    }
}

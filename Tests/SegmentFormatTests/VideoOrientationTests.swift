import SegmentFormat
import Testing

/// Tests the orientation of video, and the names of tracks, in the headers of files.
@Suite struct VideoOrientationTests {
    private static let one = 0x1_0000

    private func track(
        _ matrix: [Int],
        userData: [UInt8] = [],
        handler: [UInt8] = Movies.handler("vide")
    ) throws
        -> MediaTrack
    {
        let numbers = [matrix[0], matrix[1], 0, matrix[2], matrix[3], 0, 0, 0, 0x4000_0000].flatMap(u32)
        let header = fullBox("tkhd", 0, 7, u32(0), u32(0), u32(1), zeros(24), numbers, zeros(8))
        let table = box("stbl", Movies.description(Movies.visualEntry("avc1", Movies.avcConfiguration)))
        let media = box(
            "mdia",
            Movies.mediaHeader(timescale: 600, duration: 0, language: "und"),
            handler,
            box("minf", table)
        )
        let movie = try Movie(reading: box("moov", Movies.movieHeader(), box("trak", header, media, userData)))
        return try #require(movie.tracks.first).mediaTrack
    }

    @Test(
        arguments: [
            ([1, 0, 0, 1], 0, false, nil), ([0, 1, -1, 0], 90, false, "rotated by 90°"),
            ([-1, 0, 0, -1], 180, false, "rotated by 180°"), ([0, -1, 1, 0], 270, false, "rotated by 270°"),
            ([-1, 0, 0, 1], 0, true, "mirrored"), ([0, 1, 1, 0], 90, true, "rotated by 90° and mirrored"),
            ([1, 0, 0, -1], 180, true, "rotated by 180° and mirrored"),
            ([0, -1, -1, 0], 270, true, "rotated by 270° and mirrored"),
        ] as [([Int], Int, Bool, String?)]
    )
    func orientationIsThatOfTheTrackHeader(matrix: [Int], rotation: Int, isMirrored: Bool, text: String?) throws {
        let track = try self.track(matrix.map { $0 * Self.one })
        let orientation = track.orientation
        #expect(orientation.rotation == rotation && orientation.isMirrored == isMirrored)
        #expect(orientation.text == text)
        #expect(track.width == 640 && track.height == 360)
        let isTransposed = rotation == 90 || rotation == 270
        #expect(track.presentationWidth == (isTransposed ? 360 : 640))
        #expect(track.presentationHeight == (isTransposed ? 640 : 360))
        let written = orientation.matrix
        #expect([written.a, written.b, written.c, written.d].map(Int.init) == matrix)
    }

    /// Angles of less than a degree are errors of rounding; others cannot be shown without scaling the pictures.
    @Test(
        arguments: [
            ([0, 0, 0, 0], 0), ([0xB504, 0xB504, -0xB504, 0xB504], 0), ([300, 0x1_0000, -0x1_0000, 300], 90),
            ([0, 0x2_0000, -0x1_8000, 0], 90), ([0, 1, 0, 0], 0), ([0x1_0000, 0, 0, 0], 0),
        ]
    )
    func otherMatricesCountAsUpright(matrix: [Int], rotation: Int) throws {
        #expect(try self.track(matrix).orientation.rotation == rotation)
    }

    @Test func projectionOfMatroskaHasTheSameOrientation() {
        #expect(Set(VideoOrientation.all).count == 8)
        for orientation in VideoOrientation.all {
            let (yaw, roll) = orientation.projection
            #expect(VideoOrientation(yaw: Double(yaw), pitch: 0, roll: Double(roll)) == orientation)
        }
        #expect(VideoOrientation(yaw: -180, pitch: 0, roll: -180)?.text == "rotated by 180° and mirrored")
        #expect(VideoOrientation(yaw: 0, pitch: 0, roll: -90)?.rotation == 90)
        #expect(VideoOrientation(yaw: 0, pitch: 10, roll: 0) == nil)
        #expect(VideoOrientation(yaw: 30, pitch: 0, roll: 0) == nil)
        #expect(VideoOrientation(yaw: 0, pitch: 0, roll: .nan) == nil)
    }

    @Test(
        arguments: [
            ("Commentary", "VideoHandler", "Commentary"), (nil, "Deutsch", "Deutsch"), (nil, "SoundHandler", nil),
            (nil, "Core Media Audio", nil), (nil, "\u{7}English", nil), ("", "English", "English"),
        ] as [(String?, String, String?)]
    )
    func nameIsThatOfTheUserDataOrTheHandler(userData: String?, handler: String, name: String?) throws {
        let track = try self.track(
            [Self.one, 0, 0, Self.one],
            userData: userData.map { box("udta", box("name", ascii($0))) } ?? [],
            handler: fullBox("hdlr", 0, 0, u32(0), ascii("vide"), zeros(12), ascii(handler), [0])
        )
        #expect(track.name == name)
    }
}

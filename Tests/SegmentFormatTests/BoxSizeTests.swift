import SegmentFormat
import Testing

/// The sizes of boxes that are impossible, in files whose media is found nevertheless.
@Suite struct BoxSizeTests {
    private let movie = Movies.progressive(movieFirst: true)

    /// Returns the file with another size of the box at an offset.
    private func resized(at offset: Int, to size: Int) -> [UInt8] {
        var bytes = movie.bytes
        bytes.replaceSubrange(offset..<offset + 4, with: u32(size))
        return bytes
    }

    private func problem(_ file: [UInt8]) throws -> String? {
        let timeline = try MediaFileIndexerTests.index(file, head: file.count).timeline
        #expect(!timeline.segments.isEmpty && timeline.tracks.count == 2)
        return timeline.sizeProblem
    }

    @Test func intactFilesHaveNoProblem() throws {
        #expect(try problem(movie.bytes) == nil)
        #expect(try problem(Movies.progressive(movieFirst: false).bytes) == nil)
        #expect(try problem(movie.bytes + box("free", zeros(16))) == nil)
    }

    @Test func boxThatExceedsTheFileIsReported() throws {
        let found = try problem(resized(at: movie.data - 8, to: 0x7FFF_FFFF))
        #expect(found == "the box mdat at byte \(movie.data - 8) has a size of 2.15 GB, which exceeds the file")
        let end = movie.bytes.count
        let last = try problem(movie.bytes + u32(1_000) + ascii("free"))
        #expect(last == "the box free at byte \(end) has a size of 1.00 kB, which exceeds the file")
    }

    @Test func sizeThatIsLessThanThatOfTheHeaderIsReported() throws {
        #expect(try problem(movie.bytes + u32(4) + ascii("free"))?.hasSuffix("has an invalid size") == true)
    }

    @Test func boxThatExceedsTheBoxThatContainsItIsReported() throws {
        // An unknown box at the end of the movie box, whose size is adapted.
        let end = movie.movie.upperBound
        var bytes = Array(movie.bytes[..<end]) + u32(100) + ascii("skip") + Array(movie.bytes[end...])
        bytes.replaceSubrange(movie.movie.lowerBound..<movie.movie.lowerBound + 4, with: u32(movie.movie.count + 8))
        #expect(try problem(bytes) == "the box skip has a size that exceeds the box moov, which contains it")
    }
}

import Foundation
import MediaTiming

/// The projections of the video tracks of a Matroska file (RFC 9559 §5.1.4.1.28.41).
///
/// The angles of a projection also declare how flat pictures are rotated, but FFmpeg writes angles only for spherical
/// video.
enum MatroskaProjection {
    /// An element of a file: the offset of its header, and its content.
    private struct Element {
        let start: UInt64
        let content: Range<UInt64>
    }

    /// Changes the spherical projections of a file to the rectangular one, whose angles rotate flat pictures.
    ///
    /// No element changes its size. The file must not have checksums.
    ///
    /// - Parameter path: The path of the file.
    /// - Throws: The error of the system.
    static func flatten(inFile path: String) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        defer { try? file.close() }
        let end = try file.seekToEnd()
        guard let segment = try elements(0x1853_8067, in: file, 0..<end, limit: 1).first,
            let tracks = try elements(0x1654_AE6B, in: file, segment.content, limit: 1).first
        else { return }
        for track in try elements(0xAE, in: file, tracks.content) {
            for video in try elements(0xE0, in: file, track.content) {
                for projection in try elements(0x7670, in: file, video.content) {
                    try flatten(projection, in: file)
                }
            }
        }
    }

    private static func flatten(_ projection: Element, in file: FileHandle) throws {
        for type in try elements(0x7671, in: file, projection.content) where !type.content.isEmpty {
            try file.seek(toOffset: type.content.lowerBound)
            try file.write(contentsOf: [UInt8](repeating: 0, count: type.content.count))
        }
        // A rectangular projection has no private data; an element that readers skip takes its place.
        for data in try elements(0x7672, in: file, projection.content) {
            let length = data.content.upperBound -| data.start -| 2
            guard length <= 126 else { continue }
            try file.seek(toOffset: data.start)
            try file.write(contentsOf: [0xEC, 0x80 | UInt8(clamping: length)])
        }
    }

    /// Returns the elements with an identifier in a range of a file.
    private static func elements(
        _ id: UInt64,
        in file: FileHandle,
        _ range: Range<UInt64>,
        limit: Int = .max
    ) throws -> [Element] {
        var found: [Element] = []
        var offset = range.lowerBound
        while offset < range.upperBound, found.count < limit {
            try file.seek(toOffset: offset)
            guard let head = try file.read(upToCount: 12) else { break }
            let bytes = Array(head)
            // The number of leading zero bits of the first byte of a number is that of its further bytes.
            guard let first = bytes.first, first >= 0x10 else { break }
            let idLength = first.leadingZeroBitCount + 1
            guard bytes.count > idLength, bytes[idLength] > 0 else { break }
            let sizeLength = bytes[idLength].leadingZeroBitCount + 1
            guard bytes.count >= idLength + sizeLength else { break }
            let number = bytes[..<idLength].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let bits = bytes[idLength..<idLength + sizeLength].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            // The largest number, whose bits are all set, stands for an unknown size.
            let largest = UInt64.max >> UInt64(clamping: 64 - 7 * sizeLength)
            let content = offset +| UInt64(clamping: idLength + sizeLength)
            let size = bits & largest
            let end = size == largest ? range.upperBound : content +| size
            guard content <= end, end <= range.upperBound else { break }
            if number == id { found.append(Element(start: offset, content: content..<end)) }
            offset = end
        }
        return found
    }
}

import AssetStorage
import Foundation
import Hummingbird
import MediaTransport
import NIOCore
import NIOPosix

/// A responder that serves a file or the requested byte range of it (RFC 9110 §14).
struct FileResponder {
    /// The number of bytes that are read at once.
    private static let chunkLength = 128 << 10

    /// Returns the response for a file: 304 if the client already has it, 416 if the range is not satisfiable.
    ///
    /// - Parameters:
    ///   - file: The file, which is open, so that the body is that of the file that was looked up; `nil` for none.
    ///   - name: The name of the file, whose extension determines the media type.
    ///   - request: The request.
    ///   - cacheControl: The value of `Cache-Control`.
    /// - Returns: The response.
    /// - Throws: ``ServerError`` if there is no file.
    func respond(
        _ file: ContainedFile?,
        named name: String,
        to request: Request,
        cacheControl: String
    ) throws -> Response {
        guard let file, file.kind == .file else {
            throw ServerError(.notFound, "not-found", "there is nothing at this address")
        }
        let size = file.size
        let tag = "\"\(String(size, radix: 16))-\(String(file.modificationMilliseconds, radix: 16))\""
        // A date in the future is replaced by the current one (RFC 9110 §8.8.2.1).
        let modified = UnixSeconds(max(0, min(file.modificationMilliseconds / 1_000, UnixSeconds.now.rawValue)))
        let type = Self.mediaType((name as NSString).pathExtension)
        var headers: HTTPFields = [
            .contentType: type, .acceptRanges: "bytes", .cacheControl: cacheControl,
            .eTag: tag, .lastModified: CurrentDateField.text(of: modified),
        ]
        if ConditionalRequest(request.headers).hasFile(taggedWith: tag, modifiedAt: modified) {
            return Response(status: .notModified, headers: headers)
        }
        // A date in `If-Range` does not tell versions of the same second apart (RFC 9110 §8.8.2.2), so that only the tag counts.
        guard let text = request.headers[.range], request.headers[.ifRange] ?? tag == tag else {
            return Response(status: .ok, headers: headers, body: Self.body(file, 0..<size))
        }
        guard let range = Self.range(text, size: size) else {
            // A range in an unknown form is ignored; a range outside the file is refused.
            guard text.hasPrefix("bytes="), !text.contains(",") else {
                return Response(status: .ok, headers: headers, body: Self.body(file, 0..<size))
            }
            headers[.contentRange] = "bytes */\(size)"
            return Response(status: .rangeNotSatisfiable, headers: headers)
        }
        headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound)/\(size)"
        let body = Self.body(file, range.lowerBound..<(range.upperBound + 1))
        return Response(status: .partialContent, headers: headers, body: body)
    }

    /// Returns the bytes of an open file, which are read as the client receives them.
    private static func body(_ file: ContainedFile, _ range: Range<Int>) -> ResponseBody {
        guard !range.isEmpty else { return ResponseBody() }
        return ResponseBody(contentLength: range.count) { writer in
            var offset = range.lowerBound
            while offset < range.upperBound {
                let (start, count) = (offset, min(Self.chunkLength, range.upperBound - offset))
                let bytes = try await NIOThreadPool.singleton.runIfActive { try file.bytes(at: start, count: count) }
                // The file has become shorter, and the client must not wait for the rest.
                guard !bytes.isEmpty else { throw FileFailure(EIO) }
                try await writer.write(ByteBuffer(bytes: bytes))
                offset += bytes.count
            }
            try await writer.finish(nil)
        }
    }

    /// Returns the byte range of a `Range` field; `nil` if it contains no range or several.
    static func range(_ text: String, size: Int) -> ClosedRange<Int>? {
        guard size > 0, text.hasPrefix("bytes="), !text.contains(",") else { return nil }
        let parts = text.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        if parts[0].isEmpty {
            guard let length = Int(parts[1]), length > 0 else { return nil }
            return max(0, size - length)...(size - 1)
        }
        guard let low = Int(parts[0]), low >= 0, low < size else { return nil }
        guard !parts[1].isEmpty else { return low...(size - 1) }
        guard let high = Int(parts[1]), high >= low else { return nil }
        return low...min(high, size - 1)
    }

    /// Returns a media type that browsers play or save but never execute; all other types become
    /// `application/octet-stream`.
    static func safeMediaType(_ type: String?) -> String {
        guard let type else { return "application/octet-stream" }
        let name = type.lowercased().prefix { $0 != ";" }.filter { $0 != " " }
        let isMedia = name.hasPrefix("video/") || name.hasPrefix("audio/") || name == "text/vtt"
        let isPlaylist = ["application/vnd.apple.mpegurl", "application/x-mpegurl", "application/dash+xml"].contains(
            name
        )
        let isPicture = ["image/jpeg", "image/png", "image/gif", "image/webp"].contains(name)
        return isMedia || isPlaylist || isPicture || name == "application/mp4" ? type : "application/octet-stream"
    }

    /// Returns the media type for a file extension.
    static func mediaType(_ ending: String) -> String {
        switch ending.lowercased() {
        case "m3u8", "m3u": "application/vnd.apple.mpegurl"
        case "mpd": "application/dash+xml"
        case "ts": "video/mp2t"
        case "mp4", "m4s", "m4v", "cmfv": "video/mp4"
        case "m4a", "cmfa": "audio/mp4"
        case "aac": "audio/aac"
        case "mp3": "audio/mpeg"
        case "vtt", "webvtt": "text/vtt; charset=utf-8"
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        case "png": "image/png"
        case "jpg", "jpeg": "image/jpeg"
        case "json": "application/json"
        case "plist": "application/x-plist"
        default: "application/octet-stream"
        }
    }
}

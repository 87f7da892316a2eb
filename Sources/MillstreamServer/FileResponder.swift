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
        switch RequestedRange(text, size: size) {
        case .invalid: return Response(status: .ok, headers: headers, body: Self.body(file, 0..<size))
        case .notSatisfiable:
            headers[.contentRange] = "bytes */\(size)"
            return Response(status: .rangeNotSatisfiable, headers: headers)
        case .bytes(let range):
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound)/\(size)"
            let body = Self.body(file, range.lowerBound..<(range.upperBound + 1))
            return Response(status: .partialContent, headers: headers, body: body)
        }
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

    /// Returns the byte range of a `Range` field; `nil` if it contains no range that the resource has, or several.
    static func range(_ text: String, size: Int) -> ClosedRange<Int>? {
        guard case .bytes(let range) = RequestedRange(text, size: size) else { return nil }
        return range
    }

    /// Returns a media type that browsers play or save but never execute; all other types become
    /// `application/octet-stream`.
    ///
    /// A parameter that is not a plain `codecs`, `charset` or `profiles` removes all parameters.
    static func safeMediaType(_ type: String?) -> String {
        guard let type, let name = mediaTypeName(type) else { return "application/octet-stream" }
        let isMedia = name.hasPrefix("video/") || name.hasPrefix("audio/") || name == "text/vtt"
        let isPlaylist = ["application/vnd.apple.mpegurl", "application/x-mpegurl", "application/dash+xml"].contains(
            name
        )
        let isPicture = ["image/jpeg", "image/png", "image/gif", "image/webp"].contains(name)
        guard isMedia || isPlaylist || isPicture || name == "application/mp4" else { return "application/octet-stream" }
        let parameters = type.split(separator: ";", omittingEmptySubsequences: false).dropFirst()
        return parameters.allSatisfy { isPlainParameter($0) } ? type : name
    }

    /// Returns the name of a media type in lowercase, without parameters; `nil` if the value of the field is not a single media type
    /// (RFC 9110 §8.3.1).
    ///
    /// Browsers use the last one of several media types that are separated by commas.
    static func mediaTypeName(_ type: String) -> String? {
        let text = type.prefix { $0 != ";" }.split(separator: " ")
        guard text.count == 1 else { return nil }
        let parts = text[0].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(isPlain) }) else { return nil }
        return text[0].lowercased()
    }

    /// Returns a Boolean value that indicates whether a parameter of a media type has a known name and a value that all parsers read in
    /// the same way.
    private static func isPlainParameter(_ parameter: Substring) -> Bool {
        let parts = parameter.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return parameter.utf8.allSatisfy { $0 == 0x20 } }
        let name = parts[0].drop { $0 == " " }.lowercased()
        var value = parts[1]
        while value.last == " " { value.removeLast() }
        guard ["codecs", "charset", "profiles"].contains(name) else { return false }
        guard value.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") else {
            return !value.isEmpty && value.utf8.allSatisfy(isPlain)
        }
        return value.dropFirst().dropLast().utf8.allSatisfy { isPlain($0) || $0 == 0x20 || $0 == UInt8(ascii: ",") }
    }

    /// Returns a Boolean value that indicates whether a byte is a letter, a digit, or a punctuation mark that occurs in media types.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
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

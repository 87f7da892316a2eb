import Foundation
import Hummingbird
import MediaTiming

/// A responder that serves a file or the requested byte range of it (RFC 9110 §14).
struct FileResponder {
    private let files = FileIO()

    /// Returns the response for a file: 304 if the client already has it, 416 if the range is not satisfiable.
    func respond(
        _ url: URL,
        to request: Request,
        context: some RequestContext,
        cacheControl: String
    ) async throws -> Response {
        let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
        guard let attributes, attributes[.type] as? FileAttributeType == .typeRegular,
            let size = (attributes[.size] as? NSNumber)?.intValue
        else { throw ServerError(.notFound, "not-found", "there is nothing at this address") }
        let modified = (attributes[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
        let tag = "\"\(String(size, radix: 16))-\(String(Int64(saturating: modified * 1000), radix: 16))\""
        var headers: HTTPFields = [
            .contentType: Self.mediaType(url.pathExtension), .acceptRanges: "bytes", .cacheControl: cacheControl,
            .eTag: tag,
        ]
        if ConditionalRequest(request.headers).hasRepresentation(tag) {
            return Response(status: .notModified, headers: headers)
        }
        guard let text = request.headers[.range], request.headers[.ifRange] ?? tag == tag else {
            let body = try await files.loadFile(path: url.path, context: context)
            return Response(status: .ok, headers: headers, body: body)
        }
        guard let range = Self.range(text, size: size) else {
            // A range in an unknown form is ignored; a range outside the file is refused.
            guard text.hasPrefix("bytes="), !text.contains(",") else {
                return Response(
                    status: .ok,
                    headers: headers,
                    body: try await files.loadFile(path: url.path, context: context)
                )
            }
            headers[.contentRange] = "bytes */\(size)"
            return Response(status: .rangeNotSatisfiable, headers: headers)
        }
        headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound)/\(size)"
        let body = try await files.loadFile(path: url.path, range: range, context: context)
        return Response(status: .partialContent, headers: headers, body: body)
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

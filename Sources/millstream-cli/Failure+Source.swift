import Foundation
import HLSPlaylist
import MediaTransport
import MillstreamDownloads
import MillstreamServer
import ResourceAddressing
import SegmentFormat
import StreamingEngine

/// The messages about a source, which are the same for all commands.
extension Failure {
    /// Returns the message of an error of the player.
    static func message(of error: StreamingError) -> String {
        if error.code == .notRecognized {
            let cause = (error.cause as? PlaylistParsingError) ?? .notAPlaylist(content: nil)
            return (error.address.map { "\($0): " } ?? "") + cause.textForSource
        }
        guard let address = error.address, !error.message.contains("\(address)"),
            address.filePath.map({ !error.message.contains($0) }) ?? true
        else { return error.message }
        return "\(error.message): \(address)"
    }

    /// Returns the message of an error of a download.
    static func message(of error: DownloadError) -> String {
        guard let cause = error.cause as? PlaylistParsingError else { return error.description }
        return error.description.replacing(cause.description, with: cause.textForSource)
    }

    /// Returns an error whose message names the source as the user gave it, and other files by their paths.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - source: The source as the user gave it.
    ///   - address: The URL of the source.
    /// - Returns: The error, or a failure with its message.
    static func naming(_ error: any Error, _ source: String, at address: ResourceAddress) -> any Error {
        guard error is Failure || error is any MillstreamError else { return error }
        let failure = Failure(error)
        var names: [String: String] = [:]
        var current: (any Error)? = error
        while let found = current as? any MillstreamError {
            if let file = found.address, let path = file.filePath { names[file.description] = path }
            current = found.cause
        }
        if address.filePath != nil { names[address.description] = PlaylistSource.name(source) }
        var message = failure.message
        // The URL of one file can be the beginning of that of another.
        for (url, name) in names.sorted(by: { $0.key.utf8.count > $1.key.utf8.count }) {
            message = message.replacing(url, with: name)
        }
        guard message != failure.message else { return error }
        return Failure(failure.status, failure.code, message, hint: failure.hint)
    }

    /// Returns a message that an earlier process stored, with the paths of files instead of their URLs.
    static func namingFiles(in message: String) -> String {
        message.replacing(/file:\/\/\/[^\s]*[^\s:;,.\)]/) { match in
            ResourceAddress(String(match.output)).filePath ?? String(match.output)
        }
    }

    /// Returns advice for a request that was refused: that its address has expired, or that header fields were withheld.
    ///
    /// - Parameter error: The error of the request; `nil` for none.
    /// - Returns: The advice; `nil` for any other error.
    static func hint(for error: TransportError?) -> String? {
        error.flatMap { $0.expiryHint(at: .now) ?? $0.withheldHeaderFieldsHint }
    }
}

extension TransportError {
    /// Returns advice for a request that a server refused after the time in the query of its address; `nil` for other errors.
    ///
    /// The query item is `expires`, in seconds since 1970, as millstream sign writes it, and content delivery networks that
    /// sign addresses.
    ///
    /// - Parameter now: The current time.
    /// - Returns: The advice; `nil` if the address has no such time, or it has not passed.
    fileprivate func expiryHint(at now: Date) -> String? {
        guard let status, FailureCategory.mayIndicateExpiry(status: status) else { return nil }
        guard let query = address?.query else { return nil }
        let items = query.split(separator: "&").map { $0.split(separator: "=", maxSplits: 1) }
        let item = items.first { $0.count == 2 && $0[0].lowercased() == "expires" }
        guard let value = item?.last, let seconds = Int64(value), (0..<Self.latestExpiry).contains(seconds) else {
            return nil
        }
        let time = Date(timeIntervalSince1970: Double(seconds))
        guard time <= now else { return nil }
        return "the address expired at \(time.formatted(.iso8601)); ask for a new one from where it came"
    }

    /// The end of the year 9999, after which a number is no time in seconds.
    private static var latestExpiry: Int64 { 253_402_300_800 }
}

extension PlaylistParsingError {
    /// The message for a source: of bytes in an unknown format, it is the same whether a command reads playlists alone, or
    /// manifests and media files as well.
    var textForSource: String { self == .notAPlaylist(content: nil) ? Self.unknownFormat : description }

    /// The message for bytes in an unknown format.
    static let unknownFormat =
        "neither a playlist (it does not begin with #EXTM3U), nor a DASH manifest, nor a media file in a known format"
}

extension MediaContainer {
    /// Creates the format of a source that is a media file, and no playlist; `nil` for anything else.
    init?(ofMediaFile bytes: [UInt8]) {
        guard let container = MediaContainer(bytes.span), container.isMediaFile else { return nil }
        self = container
    }
}

import ArgumentParser
import Foundation
import MediaTiming
import MediaTransport
import MillstreamServer
import PlaylistEditing
import ReportFormat
import ResourceAddressing

/// The command `millstream sign`.
struct SignCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Sign a URL for millstream serve --secret.",
        discussion: """
            The signed URL is valid on every server with the same secret. Its edits and all its other parameters are \
            part of the signature. The server signs the URLs in the playlist, including those of segments. They expire \
            together with the playlist, so --expires must be longer than playback takes.

            Example: millstream sign "http://127.0.0.1:8080/play.m3u8?url=https://example.com/main.m3u8" --secret secret --expires 12:00:00
            """
    )

    @Argument(help: "The URL of /play.m3u8 or /play.mpd on the server, or its path, with the query.")
    var address: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The file with the secret of the server. The secret has at least 16 bytes.",
            valueName: "FILE"
        )
    )
    var secret: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The time from now until the URL expires, in seconds or as H:MM:SS (default: it does not expire).",
            valueName: "TIME"
        )
    )
    var expires: String?

    private var validity: MediaTime? { expires.flatMap { ClockTime.parse($0) } }

    func validate() throws {
        if let expires, validity.map({ $0 <= .zero }) ?? true {
            throw ValidationError("--expires must be a time above zero, such as 3600 or 12:00:00, not \"\(expires)\"")
        }
    }

    func run() throws {
        let now = Int64(saturating: Date().timeIntervalSince1970)
        let end = validity.map { UnixSeconds(now +| Int64(saturating: $0.seconds.rounded(.up))) }
        let key = try ServerSecret(file: URL(fileURLWithPath: secret))
        let signed = try key.signedAddress(ResourceAddress(address), expires: end)
        // The URL is written as it is: a signature must not be changed.
        try StandardOutput.writeLine(path: signed.text)
    }
}

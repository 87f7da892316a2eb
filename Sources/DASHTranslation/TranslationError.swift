/// An error that occurs when a presentation cannot be translated at all.
package enum TranslationError: Error, Sendable, Hashable {
    /// The presentation has no video or audio that HLS can describe.
    case nothingToPlay(reason: String)
    /// No segment of a dynamic presentation is available yet.
    case notAvailableYet
    /// The presentation describes more segments or bytes than ``TranslationLimits`` allow.
    case tooLarge(message: String)

    /// The short spelling for logs and messages.
    package var code: String {
        switch self {
        case .nothingToPlay: "dash-nothing-to-play"
        case .notAvailableYet: "dash-not-available-yet"
        case .tooLarge: "dash-too-large"
        }
    }
}

extension TranslationError: CustomStringConvertible {
    /// The error as a message for display.
    package var description: String {
        switch self {
        case .nothingToPlay(let reason): "the presentation has nothing that HLS can play: \(reason)"
        case .notAvailableYet: "no segment of the presentation is available yet"
        case .tooLarge(let message): "the presentation is too large to be translated: \(message)"
        }
    }
}

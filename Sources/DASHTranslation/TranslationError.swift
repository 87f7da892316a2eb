import ResourceAddressing

/// An error that occurs when a presentation cannot be translated at all.
package enum TranslationError: MillstreamError, Sendable, Hashable {
    /// The presentation has no video or audio that HLS can describe.
    case nothingToPlay(reason: String)
    /// No segment of a dynamic presentation is available yet.
    case notAvailableYet
    /// The presentation describes more segments or bytes than ``TranslationLimits`` allow.
    case tooLarge(message: String)

    /// The kind of the error.
    package enum Code: String, ErrorCode {
        /// The presentation has no video or audio that HLS can describe.
        case nothingToPlay = "dash-nothing-to-play"
        /// No segment of a dynamic presentation is available yet.
        case notAvailableYet = "dash-not-available-yet"
        /// The presentation describes more than the limits allow.
        case tooLarge = "dash-too-large"

        /// The code of the corresponding error of AVFoundation.
        package var number: Int? {
            switch self {
            case .nothingToPlay: -11_833
            case .notAvailableYet: -11_863
            case .tooLarge: -11_849
            }
        }
    }

    /// The kind of the error.
    package var code: Code {
        switch self {
        case .nothingToPlay: .nothingToPlay
        case .notAvailableYet: .notAvailableYet
        case .tooLarge: .tooLarge
        }
    }

    /// The description of the error, for people.
    package var message: String {
        switch self {
        case .nothingToPlay(let reason): "the presentation has nothing that HLS can play: \(reason)"
        case .notAvailableYet: "no segment of the presentation is available yet"
        case .tooLarge(let message): "the presentation is too large to be translated: \(message)"
        }
    }
}

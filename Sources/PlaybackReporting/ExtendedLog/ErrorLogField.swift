/// The fields of an error log in text form, in the order in which they are written, which is that of AVFoundation.
enum ErrorLogField: String, CaseIterable {
    case uri
    case playbackSessionID = "cs-guid"
    case serverAddress = "s-ip"
    case errorStatusCode = "status"
    case errorDomain = "domain"
    case errorComment = "comment"

    /// Returns the text of the field.
    func text(of event: ErrorLog.Event) -> String {
        switch self {
        case .uri: ExtendedLogText.encode(event.uri)
        case .playbackSessionID: ExtendedLogText.encode(event.playbackSessionID)
        case .serverAddress: ExtendedLogText.encode(event.serverAddress)
        case .errorStatusCode: String(event.errorStatusCode)
        case .errorDomain: ExtendedLogText.encode(event.errorDomain, isString: true)
        case .errorComment: ExtendedLogText.encode(event.errorComment, isString: true)
        }
    }

    /// Parses the text of a field into an event.
    ///
    /// - Returns: Whether the text is valid for the field.
    func store(_ text: String, in event: inout ErrorLog.Event) -> Bool {
        switch self {
        case .uri: event.uri = text
        case .playbackSessionID: event.playbackSessionID = text
        case .serverAddress: event.serverAddress = text
        case .errorStatusCode:
            guard let status = DecimalNumber(text)?.whole.flatMap(Int.init(exactly:)) else { return false }
            event.errorStatusCode = status
        case .errorDomain: event.errorDomain = text
        case .errorComment: event.errorComment = text
        }
        return true
    }
}

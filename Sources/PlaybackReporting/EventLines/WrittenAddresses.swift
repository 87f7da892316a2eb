import ResourceAddressing

/// The form in which URLs are written into logs and lines of events.
public enum WrittenAddresses: Sendable, Hashable, CaseIterable {
    /// URLs are written as they were requested, with the tokens in them.
    case whole
    /// URLs are written as in messages: without user information, and with long and secret values shortened, so that the
    /// text can be passed on. The last component of a path is whole. The URLs cannot be requested again.
    case shortened

    /// Returns a URL in this form.
    func text(_ address: String) -> String {
        switch self {
        case .whole: address
        case .shortened: ResourceAddress(address).logDescription
        }
    }
}

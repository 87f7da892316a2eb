package import AssetStorage
import Foundation
import HTTPTypes
package import MillstreamDownloads
package import ResourceAddressing

/// The body of a request that starts a download.
package struct DownloadOrder: Sendable, Hashable {
    private struct Parameters: Decodable {
        let url: String
        let title: String?
        let variants: String?
        let maxHeight: Int?
    }

    /// The URL of the stream, an HTTP or HTTPS URL.
    package let source: ResourceAddress
    /// The title of the asset; `nil` if the request has none.
    package let title: String?
    /// The variants and renditions to download.
    package let selection: DownloadSelection

    /// Creates an order from JSON.
    ///
    /// - Parameter bytes: The body.
    /// - Throws: `ServerError` with the status 400 if the body is not an order.
    package init(parsing bytes: [UInt8]) throws {
        guard let parameters = try? JSONDecoder().decode(Parameters.self, from: Data(bytes)),
            ResourceAddress(parameters.url).isHTTP
        else { throw ServerError(.badRequest, "invalid-body", "the body must contain url, an http or https address") }
        var selection = DownloadSelection()
        switch (parameters.variants, parameters.maxHeight) {
        case (_, let height?): selection.variants = .maximumHeight(height)
        case ("lowest", _): selection.variants = .lowest
        case ("all", _): selection.variants = .all
        case ("best", _), (nil, _): selection.variants = .best
        default: throw ServerError(.badRequest, "invalid-body", "variants must be best, lowest or all")
        }
        source = ResourceAddress(parameters.url)
        title = parameters.title
        self.selection = selection
    }
}

/// The body of a request that changes network conditions.
package struct ConditionsOrder: Sendable, Hashable {
    /// The requests whose conditions are changed.
    package enum Scope: Sendable, Hashable {
        /// All streams without conditions of their own.
        case shared
        /// The link with an identifier.
        case link(String)
        /// The stream with a source and the conditions that its URL names.
        case stream(source: ResourceAddress, named: String)
    }

    private struct Parameters: Decodable {
        let conditions: String
        /// The source of a stream with its own conditions, and the conditions in its URL.
        ///
        /// Both are absent if the conditions of all other streams are changed, or those of a link.
        let url: String?
        let named: String?
        /// The identifier of a link, in place of a stream.
        let link: String?
    }

    /// The name of the new conditions.
    package let conditions: String
    /// The requests whose conditions are changed.
    package let scope: Scope

    /// Creates an order from JSON.
    ///
    /// - Parameter bytes: The body.
    /// - Throws: `ServerError` with the status 400 if the body is not an order.
    package init(parsing bytes: [UInt8]) throws {
        guard let parameters = try? JSONDecoder().decode(Parameters.self, from: Data(bytes)),
            (parameters.url == nil) == (parameters.named == nil), parameters.link == nil || parameters.url == nil
        else {
            throw ServerError(
                .badRequest,
                "invalid-body",
                "the body must contain conditions, and for a single stream link, or url and named"
            )
        }
        conditions = parameters.conditions
        if let link = parameters.link {
            scope = .link(link)
        } else if let url = parameters.url, let named = parameters.named {
            scope = .stream(source: ResourceAddress(url), named: named)
        } else {
            scope = .shared
        }
    }
}

extension LinkRegistry {
    /// Changes conditions.
    ///
    /// - Throws: ``ServerError`` if there is no such link or there are no such conditions.
    func change(_ order: ConditionsOrder) throws {
        switch order.scope {
        case .link(let link): try change(link: link, to: order.conditions)
        case .stream(let source, let named):
            try change(LinkRegistry.Stream(source: source, conditions: named), to: order.conditions)
        case .shared: try change(nil, to: order.conditions)
        }
    }
}

/// The body of a request that changes a storage policy; what is absent stays.
package struct PolicyChanges: Sendable, Hashable, Decodable {
    /// A Boolean value that indicates whether the asset is excluded from eviction.
    let pinned: Bool?
    /// The eviction priority.
    let priority: String?
    /// The expiration date in the format of ISO 8601, or `never`.
    let expires: String?

    /// Creates changes from JSON; `nil` if it has another form.
    package init?(parsing bytes: [UInt8]) {
        guard let changes = try? JSONDecoder().decode(PolicyChanges.self, from: Data(bytes)) else { return nil }
        self = changes
    }

    /// Returns a policy with the changes; `nil` if a value is invalid or there is no change.
    package func applied(to policy: StoragePolicy) -> StoragePolicy? {
        guard pinned != nil || priority != nil || expires != nil else { return nil }
        var policy = policy
        if let pinned { policy.isPinned = pinned }
        if let priority {
            guard let value = StoragePolicy.Priority(rawValue: priority) else { return nil }
            policy.priority = value
        }
        if let expires {
            let date = expires == "never" ? nil : try? Date(expires, strategy: .iso8601)
            guard date != nil || expires == "never" else { return nil }
            policy.expirationDate = date
        }
        return policy
    }
}

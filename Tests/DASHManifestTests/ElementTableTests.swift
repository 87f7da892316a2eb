import DASHManifest
import Testing

struct ElementTableTests {
    @Test func everyElementIsDefinedAndReachable() {
        for kind in ElementKind.allCases {
            #expect(!kind.definition.section.isEmpty, "\(kind) has no definition")
        }
        var reached: Set<ElementKind> = [.presentation]
        var next: [ElementKind] = [.presentation]
        while let kind = next.popLast() {
            for child in kind.definition.children where reached.insert(child).inserted { next.append(child) }
        }
        #expect(reached == Set(ElementKind.allCases))
    }

    @Test func everyAttributeBelongsToAnElement() {
        let used = Set(ElementKind.allCases.flatMap { $0.definition.attributes.map(\.name) })
        #expect(AttributeName.allCases.filter { !used.contains($0) } == [])
    }

    @Test func noElementDefinesAnAttributeTwice() {
        for kind in ElementKind.allCases {
            let names = kind.definition.attributes.map(\.name)
            #expect(Set(names).count == names.count, "\(kind)")
        }
    }

    @Test func namesOfExtensionsHaveNamespaces() {
        for name in AttributeName.allCases {
            #expect(name.namespace.isEmpty == !name.rawValue.contains(":"), "\(name)")
        }
    }
}

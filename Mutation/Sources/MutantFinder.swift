import SwiftOperators
import SwiftParser
import SwiftSyntax

/// A syntax visitor that finds the mutations that are possible in a source file.
final class MutantFinder: SyntaxVisitor {
    private let file: String
    private let source: String
    private let bytes: [UInt8]
    private let locations: SourceLocationConverter
    private(set) var mutants: [Mutant] = []

    private struct Scope {
        let name: String
        let lines: ClosedRange<Int>
        let isInitializer: Bool
        /// A Boolean value that indicates whether the body returns a value, so that its only expression cannot be
        /// omitted.
        let returnsValue: Bool
    }

    private var scopes: [Scope] = []
    private var types: [String] = []

    /// Creates a finder for one file.
    ///
    /// - Parameters:
    ///   - file: The path of the file, for reports.
    ///   - source: The text of the file.
    init(file: String, source: String) {
        self.file = file
        self.source = source
        bytes = Array(source.utf8)
        let tree = Parser.parse(source: source)
        locations = SourceLocationConverter(fileName: file, tree: tree)
        super.init(viewMode: .sourceAccurate)
        walk(OperatorTable.standardOperators.foldAll(tree) { _ in })
    }

    // MARK: Scopes

    private func lines(of node: some SyntaxProtocol) -> ClosedRange<Int> {
        let first = locations.location(for: node.positionAfterSkippingLeadingTrivia).line
        return first...max(first, locations.location(for: node.endPositionBeforeTrailingTrivia).line)
    }

    private func enter(_ name: String, _ node: some SyntaxProtocol, isInitializer: Bool = false, returnsValue: Bool) {
        scopes.append(
            Scope(name: name, lines: lines(of: node), isInitializer: isInitializer, returnsValue: returnsValue)
        )
    }

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        enter(node.name.text, node, returnsValue: node.signature.returnClause != nil)
        return .visitChildren
    }
    override func visitPost(_ node: FunctionDeclSyntax) { scopes.removeLast() }
    override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
        enter("init", node, isInitializer: true, returnsValue: false)
        return .visitChildren
    }
    override func visitPost(_ node: InitializerDeclSyntax) { scopes.removeLast() }
    override func visit(_ node: DeinitializerDeclSyntax) -> SyntaxVisitorContinueKind {
        enter("deinit", node, returnsValue: false)
        return .visitChildren
    }
    override func visitPost(_ node: DeinitializerDeclSyntax) { scopes.removeLast() }
    override func visit(_ node: SubscriptDeclSyntax) -> SyntaxVisitorContinueKind {
        enter("subscript", node, returnsValue: true)
        return .visitChildren
    }
    override func visitPost(_ node: SubscriptDeclSyntax) { scopes.removeLast() }
    override func visit(_ node: AccessorDeclSyntax) -> SyntaxVisitorContinueKind {
        let word = node.accessorSpecifier.text
        let gives = word == "get" || word == "_read" || word == "unsafeAddress"
        enter(scopes.last?.name ?? word, node, returnsValue: gives)
        return .visitChildren
    }
    override func visitPost(_ node: AccessorDeclSyntax) { scopes.removeLast() }
    override func visit(_ node: PatternBindingSyntax) -> SyntaxVisitorContinueKind {
        enter(scopes.last?.name ?? node.pattern.trimmedDescription, node, returnsValue: true)
        return .visitChildren
    }
    override func visitPost(_ node: PatternBindingSyntax) { scopes.removeLast() }
    override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind {
        enter(scopes.last?.name ?? "closure", node, returnsValue: true)
        return .visitChildren
    }
    override func visitPost(_ node: ClosureExprSyntax) { scopes.removeLast() }

    private func enterType(_ name: String) -> SyntaxVisitorContinueKind {
        types.append(name)
        return .visitChildren
    }
    override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind { enterType(node.name.text) }
    override func visitPost(_ node: StructDeclSyntax) { types.removeLast() }
    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind { enterType(node.name.text) }
    override func visitPost(_ node: ClassDeclSyntax) { types.removeLast() }
    override func visit(_ node: ActorDeclSyntax) -> SyntaxVisitorContinueKind { enterType(node.name.text) }
    override func visitPost(_ node: ActorDeclSyntax) { types.removeLast() }
    override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind { enterType(node.name.text) }
    override func visitPost(_ node: EnumDeclSyntax) { types.removeLast() }
    override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
        enterType(node.extendedType.trimmedDescription)
    }
    override func visitPost(_ node: ExtensionDeclSyntax) { types.removeLast() }

    // These nodes are not executed, are executed only after a failed check, or cannot contain a replacement expression.
    override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: GenericArgumentClauseSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: EnumCaseElementSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: StringLiteralExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    private func isCheck(_ name: String) -> Bool {
        ["precondition", "preconditionFailure", "assert", "assertionFailure", "fatalError"].contains(name)
    }

    // MARK: Expressions

    override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        guard let symbol = node.operator.as(BinaryOperatorExprSyntax.self)?.operator.text else { return .visitChildren }
        let left = text(of: node.leftOperand)
        let right = text(of: node.rightOperand)
        func plant(_ kind: Mutant.Kind, _ replacements: String...) {
            for other in replacements { add(kind, node, "\(left) \(other) \(right)") }
        }
        switch symbol {
        case "<": plant(.comparison, "<=", ">=")
        case "<=": plant(.comparison, "<", ">")
        case ">": plant(.comparison, ">=", "<=")
        case ">=": plant(.comparison, ">", "<")
        case "==": plant(.comparison, "!=")
        case "!=": plant(.comparison, "==")
        case "===": plant(.comparison, "!==")
        case "!==": plant(.comparison, "===")
        case "&&": plant(.connective, "||")
        case "||": plant(.connective, "&&")
        case "+" where !containsTextOrArray(node): plant(.arithmetic, "-")
        case "-": plant(.arithmetic, "+")
        case "*": plant(.arithmetic, "/")
        case "/", "%": plant(.arithmetic, "*")
        case "&+": plant(.arithmetic, "&-")
        case "&-": plant(.arithmetic, "&+")
        case "<<": plant(.arithmetic, ">>")
        case ">>": plant(.arithmetic, "<<")
        case "|": plant(.arithmetic, "&")
        case "&": plant(.arithmetic, "|")
        default: break
        }
        return .visitChildren
    }

    /// Returns whether an operand is a string or an array literal, which cannot be subtracted.
    private func containsTextOrArray(_ node: InfixOperatorExprSyntax) -> Bool {
        for side in [node.leftOperand, node.rightOperand] {
            if side.is(StringLiteralExprSyntax.self) || side.is(ArrayExprSyntax.self) { return true }
            if let inner = side.as(InfixOperatorExprSyntax.self), containsTextOrArray(inner) { return true }
        }
        return false
    }

    override func visit(_ node: PrefixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        switch node.operator.text {
        case "!": add(.negation, node, text(of: node.expression))
        case "-" where !node.expression.is(IntegerLiteralExprSyntax.self):
            add(.negation, node, text(of: node.expression))
        default: break
        }
        return .visitChildren
    }

    override func visit(_ node: BooleanLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        add(.constant, node, node.literal.text == "true" ? "false" : "true")
        return .skipChildren
    }

    override func visit(_ node: IntegerLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        guard let value = node.representedLiteralValue else { return .skipChildren }
        add(.constant, node, value == 0 ? "1" : "\(value.addingReportingOverflow(1).partialValue)")
        return .skipChildren
    }

    override func visit(_ node: FloatLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        guard let value = node.representedLiteralValue else { return .skipChildren }
        add(.constant, node, value == 0 ? "1.0" : "\(value * 1.5)")
        return .skipChildren
    }

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        let name = node.calledExpression.trimmedDescription
        if isCheck(name) { return .skipChildren }
        let callee = node.calledExpression
        let member = callee.as(MemberAccessExprSyntax.self)?.declName.baseName.text
        let word = member ?? name
        let opposites = [
            "min": "max", "max": "min", "prefix": "suffix", "suffix": "prefix", "dropFirst": "dropLast",
            "dropLast": "dropFirst",
        ]
        if let other = opposites[word] {
            let end = callee.endPositionBeforeTrailingTrivia.utf8Offset
            let start = node.positionAfterSkippingLeadingTrivia.utf8Offset
            let head = String(decoding: bytes[start..<(end - word.utf8.count)], as: UTF8.self)
            let tail = String(
                decoding: bytes[end..<node.endPositionBeforeTrailingTrivia.utf8Offset],
                as: UTF8.self
            )
            if callee.trimmedDescription.hasSuffix(word) { add(.extremum, node, head + other + tail) }
        }
        swapArguments(of: node)
        return .visitChildren
    }

    /// Adds mutations that exchange two adjacent arguments of the same syntactic kind.
    private func swapArguments(of node: FunctionCallExprSyntax) {
        let arguments = Array(node.arguments)
        // The result of these two functions does not depend on the order.
        guard arguments.count >= 2, !["min", "max"].contains(node.calledExpression.trimmedDescription) else { return }
        for index in arguments.indices.dropLast() {
            let first = arguments[index].expression
            let second = arguments[index + 1].expression
            guard first.kind == second.kind, text(of: first) != text(of: second),
                !first.is(StringLiteralExprSyntax.self), !first.is(ClosureExprSyntax.self)
            else { continue }
            let start = node.positionAfterSkippingLeadingTrivia.utf8Offset
            let end = node.endPositionBeforeTrailingTrivia.utf8Offset
            let a = range(of: first)
            let b = range(of: second)
            let swapped =
                bytes[start..<a.lowerBound] + bytes[b] + bytes[a.upperBound..<b.lowerBound] + bytes[a]
                + bytes[b.upperBound..<end]
            add(.argumentOrder, node, String(decoding: swapped, as: UTF8.self))
        }
    }

    // MARK: Conditions

    override func visit(_ node: ConditionElementSyntax) -> SyntaxVisitorContinueKind {
        guard case .expression(let expression) = node.condition else { return .visitChildren }
        let isGuard = node.parent?.parent?.is(GuardStmtSyntax.self) == true
        let isLoop = node.parent?.parent?.is(WhileStmtSyntax.self) == true
        add(.condition, expression, "true", isAllowed: !isLoop)
        if !isGuard { add(.condition, expression, "false") }
        return .visitChildren
    }

    // MARK: Statements

    override func visit(_ node: CodeBlockItemListSyntax) -> SyntaxVisitorContinueKind {
        for item in node { considerOmission(of: item, isOnlyOne: node.count == 1) }
        return .visitChildren
    }

    private func considerOmission(of item: CodeBlockItemSyntax, isOnlyOne: Bool) {
        let isAssignment: Bool
        switch item.item {
        case .expr(let expression):
            isAssignment = isAssigning(expression)
            guard isAssignment || isEffect(expression) else { return }
        case .stmt(let statement):
            // Omitting a statement that exits a scope does not compile where the compiler requires an exit.
            guard statement.is(ContinueStmtSyntax.self) || statement.is(ReturnStmtSyntax.self),
                statement.as(ReturnStmtSyntax.self)?.expression == nil,
                item.parent?.parent?.parent?.is(GuardStmtSyntax.self) != true
            else { return }
            isAssignment = false
        default: return
        }
        let body = item.parent?.parent
        let isBody =
            body?.is(ClosureExprSyntax.self) == true || body?.is(AccessorBlockSyntax.self) == true
            || body?.parent?.is(FunctionDeclSyntax.self) == true || body?.parent?.is(AccessorDeclSyntax.self) == true
        if isOnlyOne, isBody, !isAssignment, scopes.last?.returnsValue ?? true { return }
        // The only expression in a branch of an expression is its value.
        if isOnlyOne, !isAssignment, isInsideValue(item) { return }
        add(.statement, item, nil)
    }

    private func isAssigning(_ expression: ExprSyntax) -> Bool {
        guard let infix = expression.as(InfixOperatorExprSyntax.self) else { return false }
        if infix.operator.is(AssignmentExprSyntax.self) {
            // An initializer must assign every stored property.
            return !(scopes.last?.isInitializer ?? false) && !isFirstAssignment(infix)
        }
        guard let symbol = infix.operator.as(BinaryOperatorExprSyntax.self)?.operator.text else { return false }
        return symbol.hasSuffix("=") && !["==", "!=", "<=", ">=", "===", "!=="].contains(symbol)
    }

    /// Returns whether an assignment initializes a local constant that is declared without a value.
    ///
    /// The compiler refuses each use of a constant that may not be initialized.
    private func isFirstAssignment(_ infix: InfixOperatorExprSyntax) -> Bool {
        guard let name = infix.leftOperand.as(DeclReferenceExprSyntax.self)?.baseName.text else { return false }
        var node = infix.parent
        while let current = node {
            for item in current.as(CodeBlockItemListSyntax.self) ?? [] {
                guard case .decl(let inner) = item.item, let declaration = inner.as(VariableDeclSyntax.self),
                    declaration.bindingSpecifier.text == "let"
                else { continue }
                for binding in declaration.bindings where binding.initializer == nil {
                    if binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text == name { return true }
                }
            }
            node = current.parent
        }
        return false
    }

    private func isEffect(_ expression: ExprSyntax) -> Bool {
        if let inner = expression.as(TryExprSyntax.self) { return isEffect(inner.expression) }
        if let inner = expression.as(AwaitExprSyntax.self) { return isEffect(inner.expression) }
        if let inner = expression.as(UnsafeExprSyntax.self) { return isEffect(inner.expression) }
        if let inner = expression.as(OptionalChainingExprSyntax.self) { return isEffect(inner.expression) }
        guard let call = expression.as(FunctionCallExprSyntax.self) else { return false }
        return !isCheck(call.calledExpression.trimmedDescription)
            && call.calledExpression.trimmedDescription != "super.init"
            && !call.calledExpression.trimmedDescription.hasSuffix("self.init")
    }

    /// Returns whether a statement is in a branch of an `if` or `switch` that is used as a value.
    private func isInsideValue(_ item: CodeBlockItemSyntax) -> Bool {
        var node = item.parent
        while let current = node {
            if current.is(SwitchExprSyntax.self) || current.is(IfExprSyntax.self) {
                guard let outer = current.parent else { return false }
                if outer.is(ExpressionStmtSyntax.self) {
                    guard let place = outer.parent?.as(CodeBlockItemSyntax.self),
                        let list = place.parent?.as(CodeBlockItemListSyntax.self)
                    else { return false }
                    return list.count == 1 && (scopes.last?.returnsValue ?? true)
                }
                return true
            }
            if current.is(FunctionDeclSyntax.self) || current.is(ClosureExprSyntax.self) { return false }
            node = current.parent
        }
        return false
    }

    // MARK: Results

    private func range(of node: some SyntaxProtocol) -> Range<Int> {
        node.positionAfterSkippingLeadingTrivia.utf8Offset..<node.endPositionBeforeTrailingTrivia.utf8Offset
    }

    private func text(of node: some SyntaxProtocol) -> String {
        String(decoding: bytes[range(of: node)], as: UTF8.self)
    }

    private func add(_ kind: Mutant.Kind, _ node: some SyntaxProtocol, _ alternative: String?, isAllowed: Bool = true) {
        guard isAllowed else { return }
        let line = locations.location(for: node.positionAfterSkippingLeadingTrivia).line
        let scope = scopes.last
        mutants.append(
            Mutant(
                kind: kind,
                form: alternative.map { .expression(alternative: $0) } ?? .omission,
                file: file,
                declaration: (types + [scope?.name].compactMap(\.self)).joined(separator: "."),
                range: range(of: node),
                line: line,
                functionLines: scopes.first?.lines ?? line...line,
                original: text(of: node)
            )
        )
    }
}
